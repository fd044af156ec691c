/* session_passing.c - `continue while`: stops that are passed over as long as an expression holds.
 *
 * One Passing is shared by the frames that were let go with it and by those that they make. It is over for all of
 * them when one of them stays where it stopped. */
#include "session_inside.h"

#include "inspect.h"
#include "json_build.h"
#include "mem.h"

struct Passing {
    size_t refs;
    char *expression;
    int64_t limit, passed;
    const char *end; /* why it is over, as session_passing_json() says it; NULL: it is not */
    Json why;        /* the sentence of an error; JSON_NONE */
};

Passing *session_passing_new(const char *expression, int64_t limit, Error *err) {
    if (!session_may_evaluate("What is to hold", expression, err)) return NULL;
    Passing *p = mem_zalloc(sizeof *p);
    *p = (Passing){.refs = 1,
                   .expression = mem_strdup(expression),
                   .limit = limit > 0 ? limit : SESSION_PASSING_LIMIT};
    return p;
}

Passing *passing_ref(Passing *p) {
    if (p) p->refs++;
    return p;
}

void passing_unref(Passing *p) {
    if (p && !--p->refs) {
        mem_free(p->expression);
        json_unref(p->why);
        mem_free(p);
    }
}

void passing_end(Passing *p, const char *why) {
    p->end = p->end ? p->end : why;
}

bool passing_is_on(const Passing *p) {
    return p && !p->end;
}

/* Everything but false, null and no output holds. */
static bool holds(Passing *p, const Node *node, Json state, const Json *vars) {
    enum { STEPS = 1000000 };
    Error err = ERROR_INIT;
    Json found = inspect_eval(&(InspectEval){.expression = p->expression,
                                             .len = strlen(p->expression),
                                             .state = state,
                                             .vars = node->vars,
                                             .nvars = vars ? node->nvars : 0,
                                             .values = vars,
                                             .limit = 1,
                                             .steps = STEPS},
                              &err);
    Json first = json_array_get(json_object_get_c(found, "results"), 0);
    bool large = !json_is_none(json_object_get_c(found, "omitted"));
    bool yes = large || (!json_is_none(first) && json_truthy(first));
    if (json_is_none(found)) p->why = json_string_valid(err.msg, strlen(err.msg));
    json_unref(found);
    return yes;
}

bool passing_passes(Passing *p, const Node *node, Json state, const Json *vars) {
    if (p->end) return false;
    if (holds(p, node, state, vars)) {
        p->end = p->passed < p->limit ? NULL : "limit";
    } else {
        p->end = json_is_none(p->why) ? "false" : "error";
    }
    p->passed += !p->end;
    return !p->end;
}

Json passing_json(const Passing *p) {
    return OBJECT(KEY("expression", p->expression), KEY("passed", p->passed),
                  KEY("ended", p->end ? p->end : "run"), KEY("error", json_ref(p->why)));
}
