/* listing.c - the functions of the language. */
#include "program.h"

static Json add_name(Json list, const char *name, int arity) {
    return name[0] == '_' ? list : json_array_push(list, json_string_fmt("%s/%d", name, arity));
}

Json jq_builtins(void) {
    Json list = json_array();
    const char *name;
    int arity;
    for (size_t i = 0; (name = form_name(i, &arity)); i++) list = add_name(list, name, arity);
    const Prelude *row;
    for (size_t i = 0; (row = prelude_at(i)); i++) list = add_name(list, row->name, row->arity);
    const JqNative *native;
    for (size_t i = 0; (native = native_at(i)); i++) {
        list = add_name(list, native->name, native->arity);
    }
    return list;
}
