/* session_passing.c - `continue while`: stops that are passed over as long as an expression holds.
 *
 * The expression is compiled once, and bounded like the condition of a breakpoint. One Passing is shared by the frames that were let go with it and by those that they make. It is over for all of
 * them when one of them stays where it stopped. */
#include "session_inside.h"

#include "breakpoint.h"
#include "json_build.h"
#include "mem.h"

struct Passing {
    size_t refs;
    char *expression;
    Query *query;
    int64_t limit, passed;
    const char *end; /* why it is over, as session_passing_json() says it; NULL: it is not */
    Json why;        /* the sentence of an error; JSON_NONE */
};

/* Where in the expression, before what is wrong. */
static void place(Error *err) {
    if (err->line > 1)
        error_wrap(err, "At line %d, column %d of the expression", err->line, err->col);
    if (err->line == 1) error_wrap(err, "At column %d of the expression", err->col);
}

Passing *session_passing_new(const Session *s, const char *expression, int64_t limit, Error *err) {
    Error why = ERROR_INIT;
    if (!session_may_evaluate("What is to hold", expression, err)) return NULL;
    Query *query = query_new(expression, strlen(expression), run_flow(s->run), &why);
    if (!query) {
        place(&why);
        *err = why;
        return NULL;
    }
    Passing *p = mem_zalloc(sizeof *p);
    *p = (Passing){.refs = 1,
                   .expression = mem_strdup(expression),
                   .query = query,
                   .limit = limit > 0 ? limit : SESSION_PASSING_LIMIT};
    return p;
}

Passing *passing_ref(Passing *p) {
    if (p) p->refs++;
    return p;
}

void passing_unref(Passing *p) {
    if (p && !--p->refs) {
        query_free(p->query);
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
    const Error *unfit = query_unfit(p->query, node);
    Error err = ERROR_INIT;
    if (unfit) err = *unfit;
    Json found = unfit ? json_none() : query_eval_at(p->query, node, state, vars, &err);
    bool yes = !json_is_none(found) && json_truthy(found);
    if (json_is_none(found) && err.code != ERR_NONE) {
        place(&err);
        p->why = json_string_valid(err.msg, strlen(err.msg));
    }
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
