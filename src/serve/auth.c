/* auth.c - who asks, from where, how often, and for what. */
#include "server_inside.h"

#include "ascii.h"
#include "json_parse.h"
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COOKIE "pawl_token"

/* ---- from where ---- */

const char *api_path(const char *target) {
    static const char *const roots[] = {"/api/v1", "/api"};
    for (size_t i = 0; i < sizeof roots / sizeof *roots; i++) {
        size_t len = strlen(roots[i]);
        if (!strncmp(target, roots[i], len) && target[len] == '/') return target + len;
    }
    return NULL;
}

/* The name in "name:7295", "[::1]:7295" or "name". */
static size_t host_name_len(const char *host) {
    if (host[0] == '[') {
        const char *end = strchr(host, ']');
        return end ? (size_t)(end - host) + 1 : strlen(host);
    }
    return strcspn(host, ":");
}

static bool same_name(const char *a, size_t len, const char *b) {
    if (strlen(b) != len) return false;
    for (size_t i = 0; i < len; i++) {
        if (ascii_lower(a[i]) != ascii_lower(b[i])) return false;
    }
    return true;
}

/* A page of another site can have its own name lead to this machine; then that name is in Host. Where a token is needed
 * such a page has none. */
static bool host_is_ours(const Server *s, const char *host) {
    static const char *const loopback[] = {"localhost", "127.0.0.1", "[::1]"};
    size_t len = host_name_len(host);
    if (s->options.auth && !s->hosts) return true;
    for (size_t i = 0; i < sizeof loopback / sizeof *loopback; i++) {
        if (same_name(host, len, loopback[i])) return true;
    }
    for (char **h = s->hosts; h && *h; h++) {
        if (same_name(host, len, *h)) return true;
    }
    return false;
}

/* "http://name:7295" of the name and port that were asked; or, behind a proxy, of one of the server's names alone. */
static bool origin_is_ours(const Server *s, const char *origin, const char *host) {
    const char *at = strstr(origin, "://");
    if (at && !strcmp(at + 3, host)) return true;
    for (char **h = s->hosts; at && h && *h; h++) {
        size_t len = host_name_len(at + 3);
        if (!at[3 + len] && same_name(at + 3, len, *h)) return true;
    }
    return false;
}

/* A browser says where the page is from that asks. Another port of this host is another site, too. An image or a script of
 * such a page is a plain GET without an Origin, and a GET under /api may take a run for a debugger; what is beside it has no
 * effect, and a link to it may be followed. */
static bool is_of_other_site(const WebRequest *r) {
    const char *site = web_header(r, "sec-fetch-site"), *method = web_method(r);
    bool looks = !strcmp(method, "GET") || !strcmp(method, "HEAD");
    if (!site || !strcmp(site, "same-origin") || !strcmp(site, "none")) return false;
    return !looks || api_path(web_target(r)) || web_header(r, "upgrade");
}

bool auth_check_place(Exchange *x) {
    const char *host = web_header(x->request, "host"), *origin = web_header(x->request, "origin");
    if (host && !host_is_ours(x->server, host)) {
        exchange_refuse(x, 403, "wrong_host",
                        "This server does not go by the name that was asked for (Host).");
        return false;
    }
    bool foreign = (origin && (!host || !origin_is_ours(x->server, origin, host))) ||
                   is_of_other_site(x->request);
    if (foreign) {
        exchange_refuse(x, 403, "wrong_origin", "A page of another site may not ask this server.");
    }
    return !foreign;
}

/* ---- who ---- */

/* The value of a cookie; NULL: there is none. Not ended by a NUL. */
static const char *cookie_value(const char *cookies, const char *name, size_t *len) {
    size_t n = strlen(name);
    for (const char *at = cookies; at && *at;) {
        while (*at == ' ' || *at == ';') at++;
        size_t part = strcspn(at, ";");
        if (part > n && !strncmp(at, name, n) && at[n] == '=') {
            *len = part - n - 1;
            return at + n + 1;
        }
        at += part;
    }
    return NULL;
}

static const char *token_of(const WebRequest *r, size_t *len) {
    static const char bearer[] = "bearer ";
    const char *header = web_header(r, "authorization");
    size_t i = 0;
    while (header && bearer[i] && ascii_lower(header[i]) == bearer[i]) i++;
    if (header && !bearer[i]) {
        *len = strlen(header + i);
        return header + i;
    }
    return cookie_value(web_header(r, "cookie"), COOKIE, len);
}

static OperationScope scope_named(const char *name) {
    OperationScope scope = SCOPE_READ;
    for (int i = 0; operation_scope_names[i]; i++) {
        if (!strcmp(operation_scope_names[i], name)) scope = (OperationScope)i;
    }
    return scope;
}

static bool find_owner(const Server *s, const char *token, size_t len, Asker *asker) {
    TokenOwner owner;
    if (!token || !token_set_find(s->tokens, token, len, &owner)) return false;
    asker->scope = scope_named(owner.scope);
    snprintf(asker->name, sizeof asker->name, "%s", owner.name);
    snprintf(asker->id, sizeof asker->id, "%s", owner.id);
    return true;
}

bool auth_still(const Server *s, const Asker *asker) {
    return !s->tokens || token_set_has(s->tokens, asker->id);
}

bool auth_find(Exchange *x) {
    size_t len = 0;
    if (!x->server->options.auth) {
        x->asker = (Asker){.scope = SCOPE_ADMIN};
        return true;
    }
    const char *token = token_of(x->request, &len);
    if (find_owner(x->server, token, len, &x->asker)) return true;
    if (!auth_check_rate(x)) return false; /* whoever guesses is slowed down too */
    exchange_refuse(
        x, 401, "no_token", "%s",
        token ? "The token is none that counts: it is unknown, was revoked or has expired."
              : "A token is needed: `Authorization: Bearer TOKEN`. `pawl token make` makes "
                "one.");
    return false;
}

/* What names files of the server's machine. */
static bool names_files(const Operation *op, Json args) {
    return op->make && op->files && json_kind(args) == JSON_OBJECT &&
           (!json_is_none(json_object_get_c(args, "path")) ||
            !json_is_none(json_object_get_c(args, "kinds")));
}

/* What sends a workflow instead of naming it. */
static bool is_inline(const Operation *op, Json args) {
    return op->scope == SCOPE_RUN && json_kind(args) == JSON_OBJECT &&
           !json_is_none(json_object_get_c(args, "definition"));
}

/* Whether a run is to be called as those that are begun with a key, which whoever has the key finds again: somebody else's would
 * be taken for it. */
static bool takes_name_of_key(const Operation *op, Json args) {
    static const char *const fields[] = {"new_thread", "thread"};
    Json name = json_kind(args) == JSON_OBJECT
                    ? json_object_get_c(args, fields[!strcmp(op->name, "run_start")])
                    : json_none();
    const char *text = json_kind(name) == JSON_STRING ? json_string_data(&name) : "";
    size_t head = sizeof KEY_NAME - 1;
    return op->scope == SCOPE_RUN && !strncmp(text, KEY_NAME, head) &&
           strlen(text) == head + KEY_DIGITS &&
           strspn(text + head, "0123456789abcdef") == KEY_DIGITS;
}

/* ---- how many runs ---- */

static bool begins_run(const Operation *op) {
    return !strcmp(op->name, "run_start");
}

/* Requests that start a run, which may not be there yet. */
static size_t starting(const Server *s) {
    size_t n = 0;
    for (const Exchange *x = s->exchanges; x; x = x->next) n += x->starts;
    return n;
}

enum { COUNT_MS = 20 };

/* They are counted anew only when as many have been let in as there was room for, and not for each that is refused. */
bool auth_has_room(Server *s, const Operation *op, Error *err) {
    if (!begins_run(op) || s->runs_counted + s->runs_begun < s->options.max_runs) return true;
    uint64_t now = uv_now(s->options.loop);
    if (now >= s->runs_full + COUNT_MS) {
        server_runs(s, &s->runs_counted);
        s->runs_begun = starting(s);
        if (s->runs_counted + s->runs_begun < s->options.max_runs) return true;
        s->runs_full = now;
    }
    error_set(err, ERR_LIMIT,
              "%zu runs are under way, which is as many as may be; try again later.",
              s->options.max_runs);
    return error_fact(err, "limited", "runs");
}

bool auth_allows(Server *s, const Asker *asker, const Operation *op, Json args, Error *err) {
    OperationScope needed = op->scope;
    bool attaches = op->stream && json_kind(args) == JSON_OBJECT &&
                    json_truthy(json_object_get_c(args, "attach"));
    bool debugs = !strcmp(op->name, "run_start") && json_kind(args) == JSON_OBJECT &&
                  !json_is_none(json_object_get_c(args, "debug"));
    if ((attaches || debugs) && needed < SCOPE_DEBUG) needed = SCOPE_DEBUG;
    if (names_files(op, args)) needed = SCOPE_ADMIN;
    if (asker->scope < needed) {
        error_set(err, ERR_FORBIDDEN, "`%s` needs a token with the scope `%s`; this one has `%s`.",
                  op->name, operation_scope_names[needed], operation_scope_names[asker->scope]);
        return error_fact(err, "scope", operation_scope_names[needed]);
    }
    if (is_inline(op, args) && asker->scope < SCOPE_ADMIN && !s->options.allow_inline) {
        error_set(
            err, ERR_FORBIDDEN,
            "This token starts workflows that the server knows by name (`workflow`), and none that "
            "are sent.");
        return error_fact(err, "scope", "admin");
    }
    if (takes_name_of_key(op, args)) {
        error_set(err, ERR_FORBIDDEN,
                  "Names like `" KEY_NAME
                  "...` are made of an Idempotency-Key; choose another one.");
        return error_fact(err, "field", strcmp(op->name, "run_start") ? "new_thread" : "thread");
    }
    if (!auth_has_room(s, op, err)) return false;
    s->runs_begun += begins_run(op);
    return true;
}

/* ---- how often ---- */

/* A bucket for each asker: as many requests as fit in it, filled evenly. It is full after BURST_SECONDS, and can be forgotten
 * then. Askers whose keys have the same hash share a few places. Where all of these are in use, who comes goes on with what the
 * bucket has left that was used longest ago: to come under many names gives nobody more. */
typedef struct Bucket {
    char key[72];
    double left;
    uint64_t at; /* ms */
} Bucket;

enum { BUCKETS = 1024, PLACES = 8, BURST_SECONDS = 2 };

struct Rates {
    Bucket buckets[BUCKETS][PLACES];
};

void rates_free(Rates *rates) {
    mem_free(rates);
}

static uint32_t hash_of(const char *key) {
    uint32_t h = 2166136261u;
    for (; *key; key++) h = (h ^ (unsigned char)*key) * 16777619u;
    return h;
}

static Bucket *bucket_of(Rates *rates, const char *key, double full, uint64_t now) {
    Bucket *places = rates->buckets[hash_of(key) % BUCKETS], *oldest = places;
    for (Bucket *b = places; b < places + PLACES; b++) {
        if (!strcmp(b->key, key)) return b;
        if (b->at < oldest->at) oldest = b;
    }
    if (!oldest->key[0] || now - oldest->at >= BURST_SECONDS * 1000) {
        oldest->left = full;
        oldest->at = now;
    }
    snprintf(oldest->key, sizeof oldest->key, "%s", key);
    return oldest;
}

bool auth_takes_another(Server *s, const char *key) {
    double rate = s->options.rate;
    uint64_t now = uv_now(s->options.loop);
    if (!s->rates) s->rates = mem_zalloc(sizeof *s->rates);
    Bucket *b = bucket_of(s->rates, key, rate * BURST_SECONDS, now);
    b->left += (double)(now - b->at) * rate / 1000;
    b->at = now;
    if (b->left > rate * BURST_SECONDS) b->left = rate * BURST_SECONDS;
    if (b->left < 1) return false;
    b->left -= 1;
    return true;
}

bool auth_check_rate(Exchange *x) {
    if (auth_takes_another(x->server, x->asker.name[0] ? x->asker.name : web_peer(x->request))) {
        return true;
    }
    exchange_refuse(x, 429, "too_many", "More than %u requests a second; wait a second.",
                    x->server->options.rate);
    return false;
}

/* ---- browsers ---- */

/* Behind a proxy that speaks TLS for the server the page says so, whose Origin was checked. */
static bool is_secure(const WebRequest *r) {
    const char *origin = web_header(r, "origin");
    return web_is_tls(r) || (origin && !strncmp(origin, "https://", 8));
}

static void answer_with_cookie(Exchange *x, const char *value, const char *more) {
    Buf cookie = BUF_INIT, body = BUF_INIT;
    buf_printf(&cookie, COOKIE "=%s; Path=/; HttpOnly; SameSite=Strict%s%s", value,
               is_secure(x->request) ? "; Secure" : "", more);
    buf_adds(&body, "{}\n");
    WebField fields[] = {{"Set-Cookie", cookie.data}, {"Cache-Control", "no-store"}, {NULL, NULL}};
    WebAnswer answer = {.status = 200, .type = "application/json", .fields = fields};
    WebRequest *r = x->request;
    exchange_note(x, 200);
    web_request_set_data(r, NULL);
    web_answer(r, &answer, &body);
    x->request = NULL;
    buf_clear(&cookie);
    buf_clear(&body);
    exchange_free(x);
}

/* {"token": ...}: the page keeps it where its scripts cannot read it. */
void auth_sign_in(Exchange *x) {
    size_t len = 0;
    const char *body = web_body(x->request, &len);
    x->args = len ? json_parse(body, len, &(JsonParseOptions){.max_depth = 8}, NULL) : json_none();
    Json token = json_is_none(x->args) ? json_none() : json_object_get_c(x->args, "token");
    bool text = json_kind(token) == JSON_STRING;
    if (!x->server->options.auth) {
        exchange_refuse(x, 409, "no_auth",
                        "This server needs no tokens, so there is no signing in.");
    } else if (text &&
               find_owner(x->server, json_string_data(&token), json_string_len(token), &x->asker)) {
        answer_with_cookie(x, json_string_data(&token), "");
    } else {
        exchange_refuse(x, text ? 401 : 400, "no_token", "%s",
                        text ? "The token is none that counts."
                             : "Signing in takes {\"token\": \"pawl_...\"}.");
    }
}

void auth_sign_out(Exchange *x) {
    answer_with_cookie(x, "", "; Max-Age=0");
}
