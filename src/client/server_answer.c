/* server_answer.c - what a response of a server says: the answer of an operation, or an error.
 *
 * Errors are problem documents (serve/problem.c): `detail` is the sentence, `code` the code, and the rest are the facts. A
 * problem that is the server's own, and no operation's, has a code that is none of ours: its status says what kind it is. */
#include "server_link.h"

#include "json_build.h"
#include "json_error.h"
#include "json_parse.h"

#include <string.h>

/* Of problems whose code is none of error.h. 0: any other status. */
static const struct StatusRow {
    int status;
    ErrorCode code;
} statuses[] = {
    {400, ERR_USAGE}, {401, ERR_USAGE}, {403, ERR_USAGE}, {404, ERR_USAGE},
    {405, ERR_USAGE}, {409, ERR_USAGE}, {413, ERR_LIMIT}, {415, ERR_USAGE},
    {422, ERR_DATA},  {429, ERR_LIMIT}, {431, ERR_LIMIT}, {0, ERR_IO},
};

static ErrorCode code_of(Json problem, int status) {
    const char *word = json_object_text(problem, "code");
    ErrorCode code = word ? error_code_find(word) : ERR_NONE;
    const struct StatusRow *row = statuses;
    while (row->status && row->status != status) row++;
    return code != ERR_NONE && code != ERR_CODES ? code : row->code;
}

bool server_status_is_away(int status) {
    return status == 429 || status == 502 || status == 503 || status == 504;
}

bool server_is_away(const HttpAnswer *answer) {
    return answer->end == HTTP_ANSWERED ? server_status_is_away(answer->status) : answer->unsent;
}

static bool no_token(const ServerLink *link, Error *err) {
    error_set(err, ERR_USAGE,
              link->authorization
                  ? "The server %s does not accept the token: it is unknown, was revoked or has "
                    "expired."
                  : "The server %s asks for a token.",
              link->url);
    error_fact(err, "server", link->url);
    return error_fact(err, "token", link->authorization ? "wrong" : "none");
}

/* Consumes the problem. */
static void read_problem(const ServerLink *link, int status, Json problem, Error *err) {
    static const char *const own[] = {"type", "title", "status", "detail", "way_out"};
    if (status == 401) {
        no_token(link, err);
        json_unref(problem);
        return;
    }
    ErrorCode code = code_of(problem, status);
    Json all = OBJECT_ADD(problem, KEY("code", error_code_name(code)),
                          KEY("message", json_ref(json_object_get_c(problem, "detail"))));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        all = json_object_remove(all, json_string_c(own[i]));
    }
    /* The status of a run gave way to that of the response. */
    Json status_of_run = json_ref(json_object_get_c(all, "run_status"));
    all = json_object_remove(all, json_string_c("run_status"));
    all = OBJECT_ADD(all, KEY("status", status_of_run));
    error_from_json(all, err);
    json_unref(all);
}

static void not_ours(const ServerLink *link, int status, Error *err) {
    error_set(
        err, ERR_IO,
        "What answers at %s is no Pawl server (status %d). Check the address; it has no /api at its "
        "end.",
        link->url, status);
    error_fact(err, "server", link->url);
}

Json server_body_read(const ServerLink *link, int status, const char *body, size_t len,
                      Error *err) {
    Json value = json_parse(body ? body : "", len, NULL, NULL);
    bool object = json_kind(value) == JSON_OBJECT;
    if (object && (status == 200 || status == 201)) return value;
    bool problem = object && status >= 400 && json_object_text(value, "detail") &&
                   !json_is_none(json_object_get_c(value, "status"));
    if (problem) {
        read_problem(link, status, value, err);
        return json_none();
    }
    json_unref(value);
    not_ours(link, status, err);
    return json_none();
}

/* Only a proxy, or what is no server of ours, sends elsewhere. */
static void redirected(const ServerLink *link, const HttpAnswer *answer, Error *err) {
    const char *to = http_header(answer, "location");
    error_set(err, ERR_IO, "The server %s sends to %.200s instead of answering. Name that address.",
              link->url, to ? to : "another address");
    error_fact(err, "server", link->url);
}

/* The way out in the sentence is that of a node of a workflow. */
static void insecure(const ServerLink *link, const HttpAnswer *answer, Error *err) {
    const char *more = strstr(answer->message, " If the server is the right one");
    size_t len = more ? (size_t)(more - answer->message) : strlen(answer->message);
    error_set(err, ERR_IO, "%.*s", (int)len, answer->message);
    error_fact(err, "server", link->url);
    if (more) error_fact(err, "certificate", "untrusted");
}

Json server_answer_read(const ServerLink *link, const HttpAnswer *answer, Error *err) {
    if (answer->end == HTTP_INSECURE_PEER) {
        insecure(link, answer, err);
        return json_none();
    }
    if (answer->end != HTTP_ANSWERED) {
        error_set(err, answer->end == HTTP_TIMEOUT && !answer->unsent ? ERR_LIMIT : ERR_IO, "%s",
                  answer->message);
        error_fact(err, "server", link->url);
        return json_none();
    }
    if (answer->status >= 300 && answer->status < 400) {
        redirected(link, answer, err);
        return json_none();
    }
    return server_body_read(link, answer->status, answer->body.data, answer->body.len, err);
}
