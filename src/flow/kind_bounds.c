#include "kind_bounds.h"

#include "buf.h"
#include "problems.h"
#include "suggest.h"

#include <string.h>

bool kind_bounds_add(bool allowed[KIND_COUNT], const char *name, size_t len, Error *err) {
    Suggestion nearest = suggestion_for(name, len);
    bool found = false;
    for (size_t i = 0; i < KIND_COUNT; i++) {
        bool same = strlen(kinds[i].name) == len && !memcmp(kinds[i].name, name, len);
        bool written = !kinds[i].hidden || i == KIND_EDGE_AGENT; /* whose name is that of another */
        if (same && written) allowed[i] = found = true;
        if (!kinds[i].hidden) suggestion_offer(&nearest, kinds[i].name);
    }
    return found || error_set(err, ERR_NOT_FOUND, "There is no kind of node `%.*s`%s",
                              len > 60 ? 60 : (int)len, name, did_you_mean_this(nearest.best));
}

/* It does nothing but lead to nodes that are looked at themselves. */
static bool only_holds(const Kind *kind) {
    return kind->id == KIND_OUTSIDE || kind->id == KIND_BRANCH;
}

static void list_allowed(const bool *allowed, Buf *out) {
    for (size_t i = 0; i < KIND_COUNT; i++) {
        bool again = false;
        for (size_t j = 0; j < i; j++) {
            again = again || (allowed[j] && !strcmp(kinds[j].name, kinds[i].name));
        }
        if (allowed[i] && !again) buf_printf(out, "%s%s", out->len ? ", " : "", kinds[i].name);
    }
}

bool kind_is_allowed(const Bounds *bounds, const Kind *kind, const char *node, Error *err) {
    if (!bounds->kinds || bounds->kinds[kind->id] || only_holds(kind)) return true;
    Buf allowed = BUF_INIT;
    list_allowed(bounds->kinds, &allowed);
    error_set(err, ERR_FORBIDDEN, "Nodes of the kind `%s` do not run here; allowed are: %s.",
              kind->name, allowed.len ? allowed.data : "none");
    error_fact(err, "kind", kind->name);
    error_fact(err, "node", node);
    buf_clear(&allowed);
    return false;
}
