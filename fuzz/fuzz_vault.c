/* fuzz_vault - any bytes as the file with a store's secrets: what is taken has names of secrets and values as text. */
#include "flow.h"
#include "vault.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Error err = ERROR_INIT;
    Json all = vault_parse((const char *)data, size, &err), name, entry;
    if (json_is_none(all) != (err.code != ERR_NONE)) abort();
    Json secrets = json_object_get_c(all, "secrets");
    for (size_t pos = 0; json_object_next(secrets, &pos, &name, &entry);) {
        if (!secret_name_is_valid(json_string_data(&name), json_string_len(name))) abort();
        if (json_kind(json_object_get_c(entry, "value")) != JSON_STRING) abort();
    }
    json_unref(all);
    return 0;
}
