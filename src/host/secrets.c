#include "secrets.h"

#include "mem.h"
#include "process.h"
#include "safe_file.h"
#include "vault.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *variable(char *const *environment, const char *name) {
    return environment_get((const char *const *)environment, name);
}

char *secret_key_file(char *const *environment) {
    const char *file = variable(environment, "PAWL_KEY_FILE");
    const char *config = variable(environment, "XDG_CONFIG_HOME");
    const char *home = variable(environment, "HOME");
    Buf path = BUF_INIT;
    if (file && *file) {
        buf_adds(&path, file);
    } else if (config && *config == '/') {
        buf_printf(&path, "%s/pawl/key", config);
    } else if (home && *home == '/') {
        buf_printf(&path, "%s/.config/pawl/key", home);
    } else {
        return NULL;
    }
    return buf_detach(&path);
}

void secret_trim(Buf *value) {
    if (value->len && value->data[value->len - 1] == '\n') value->len--;
    if (value->len && value->data[value->len] == '\n' && value->data[value->len - 1] == '\r') {
        value->len--;
    }
    if (value->data) value->data[value->len] = '\0';
}

/* Links lead to the files in Kubernetes; the folder may be one like /tmp there. */
static bool find_file(const char *folder, const char *name, Buf *value, Error *err) {
    Error why = ERROR_INIT;
    Buf found = BUF_INIT;
    int fd = safe_parent(AT_FDCWD, folder, &why);
    int file = fd < 0 ? -1 : safe_open(fd, name, O_RDONLY, SAFE_OURS | SAFE_FOLLOW, &why);
    bool missing = fd >= 0 && file < 0 && errno == ENOENT;
    struct stat st;
    bool fine = file >= 0 && fstat(file, &st) == 0 && safe_is_ours_alone(&st, name, false, &why) &&
                safe_read_fd(file, name, SECRET_MAX, &found, &why);
    if (file >= 0) close(file);
    if (fine) {
        secret_trim(&found);
        buf_add(value, found.data, found.len);
    } else if (!missing) {
        error_set(err, ERR_SECRET, "The secret %s cannot be read from the folder %s. %s", name,
                  folder, why.msg);
        error_fact(err, "unfit", "true");
    }
    if (fd >= 0) close(fd);
    if (found.data) explicit_bzero(found.data, found.cap);
    buf_clear(&found);
    return fine;
}

bool secret_find(const SecretPlaces *places, const char *name, Buf *value, Error *err) {
    Error why = ERROR_INIT;
    bool found = places->folder && find_file(places->folder, name, value, &why);
    if (!found && why.code == ERR_NONE) {
        Buf variable_name = BUF_INIT;
        buf_printf(&variable_name, "%s%s", SECRET_VARIABLE, name);
        const char *text = variable(places->environment, variable_name.data);
        found = text != NULL;
        if (found) buf_adds(value, text);
        buf_clear(&variable_name);
    }
    if (!found && why.code == ERR_NONE && places->store_folder) {
        found = vault_get(&(Vault){places->store_folder, places->key_file}, name, value, &why);
    }
    if (!found && why.code != ERR_NONE && err) *err = why;
    return found;
}
