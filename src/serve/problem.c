/* problem.c - errors as problem documents (RFC 9457), and the statuses that go with their codes. */
#include "server_inside.h"

#include "json_error.h"

#include <string.h>

/* status: of an error with this code. title: of the document. way_out: what can be asked for instead; {thread} is the run's. */
static const struct ProblemRow {
    ErrorCode code;
    int status;
    const char *way_out;
} rows[] = {
    {ERR_SYNTAX, 400, NULL},
    {ERR_USAGE, 400, NULL},
    {ERR_DATA, 422, NULL},
    {ERR_LIMIT, 422, NULL},
    {ERR_RAISED, 422, NULL},
    {ERR_CANCELLED, 409, NULL},
    {ERR_IO, 500, NULL},
    {ERR_BUSY, 409, "GET /api/v1/runs/{thread} says who has the run."},
    {ERR_NOT_FOUND, 404, NULL},
    {ERR_EXISTS, 409, NULL},
    {ERR_ENDED, 409,
     "POST /api/v1/runs/{thread}/fork makes a new run from one of its checkpoints."},
    {ERR_ANSWER, 409, "POST /api/v1/runs/{thread}/resume with `value` or `decision` answers it."},
    {ERR_SECRET, 409, NULL},
    {ERR_WRONG_STATE, 409, NULL},
    {ERR_FORBIDDEN, 403, NULL},
    {ERR_NOT_HELD, 409, "POST /api/v1/debug/{thread} takes the run for a debugger."},
};

static const struct ProblemRow *row_of(ErrorCode code) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].code == code) return &rows[i];
    }
    return NULL;
}

static const struct Title {
    int status;
    const char *title;
} titles[] = {
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {409, "Conflict"},
    {413, "Content Too Large"},
    {415, "Unsupported Media Type"},
    {422, "Unprocessable Content"},
    {429, "Too Many Requests"},
    {500, "Internal Server Error"},
    {503, "Service Unavailable"},
    {507, "Insufficient Storage"},
};

int problem_status(const Error *err) {
    const struct ProblemRow *row = row_of(err->code);
    if (err->code == ERR_IO && strstr(err->facts, "\"full\":true")) return 507;
    if (err->code == ERR_LIMIT && strstr(err->facts, "\"limited\"")) return 429;
    return row ? row->status : 500;
}

/* The way out, with the run's name in it; JSON_NONE: there is none to tell. */
static Json way_out(const Error *err, Json facts) {
    const struct ProblemRow *row = row_of(err->code);
    const char *thread = json_object_text(facts, "thread"), *at;
    if (!row || !row->way_out || !thread || !(at = strstr(row->way_out, "{thread}"))) {
        return json_none();
    }
    return json_string_fmt("%.*s%s%s", (int)(at - row->way_out), row->way_out, thread,
                           at + strlen("{thread}"));
}

Json problem_json(const Error *err, int status) {
    Json facts = error_json(err), key, value;
    const char *title = "Error";
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++) {
        if (titles[i].status == status) title = titles[i].title;
    }
    Json out = OBJECT(KEY("type", "about:blank"), KEY("title", title),
                      KEY("status", json_int(status)), KEY("detail", err->msg));
    for (size_t pos = 0; json_object_next(facts, &pos, &key, &value);) {
        if (json_string_is(key, "message")) continue;
        bool taken = json_string_is(key, "status"); /* that of the answer; this is of the run */
        out = json_object_set(out, taken ? json_string_c("run_status") : json_ref(key),
                              json_ref(value));
    }
    out = OBJECT_ADD(out, KEY("way_out", way_out(err, facts)));
    json_unref(facts);
    return out;
}
