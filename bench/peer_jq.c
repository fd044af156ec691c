/* peer_jq.c - the only source that sees libjq. */
#include "peer_jq.h"

#include <jq.h>
#include <jv.h>
#include <string.h>

_Static_assert(sizeof(jv) == sizeof(PeerValue), "libjq's value is two machine words");

static jv to_jv(PeerValue v) {
    jv j;
    memcpy(&j, &v, sizeof j);
    return j;
}

static PeerValue from_jv(jv j) {
    PeerValue v;
    memcpy(&v, &j, sizeof v);
    return v;
}

static void drop_message(void *ctx, jv message) {
    (void)ctx;
    jv_free(message);
}

PeerProgram *peer_program_new(void) {
    jq_state *jq = jq_init();
    jq_set_error_cb(jq, drop_message, NULL);
    return (PeerProgram *)jq;
}

void peer_program_free(PeerProgram *p) {
    jq_state *jq = (jq_state *)p;
    jq_teardown(&jq);
}

bool peer_compile(PeerProgram *p, const char *text) {
    return jq_compile((jq_state *)p, text) != 0;
}

size_t peer_run(PeerProgram *p, PeerValue input) {
    jq_state *jq = (jq_state *)p;
    size_t n = 0;
    jq_start(jq, jv_copy(to_jv(input)), 0);
    jv out = jq_next(jq);
    for (; jv_is_valid(out); out = jq_next(jq)) {
        jv_free(out);
        n++;
    }
    jv_free(out);
    return n;
}

PeerValue peer_first(PeerProgram *p, PeerValue input) {
    jq_start((jq_state *)p, jv_copy(to_jv(input)), 0);
    return from_jv(jq_next((jq_state *)p));
}

PeerValue peer_ref(PeerValue v) {
    return from_jv(jv_copy(to_jv(v)));
}

void peer_unref(PeerValue v) {
    jv_free(to_jv(v));
}

bool peer_valid(PeerValue v) {
    return jv_is_valid(to_jv(v));
}

PeerValue peer_parse(const char *text, size_t len) {
    return from_jv(jv_parse_sized(text, (int)len));
}

PeerValue peer_print(PeerValue v, int indent) {
    int flags = indent ? JV_PRINT_PRETTY | JV_PRINT_INDENT_FLAGS(indent) : 0;
    return from_jv(jv_dump_string(jv_copy(to_jv(v)), flags));
}

const char *peer_text(PeerValue s, size_t *len) {
    *len = (size_t)jv_string_length_bytes(jv_copy(to_jv(s)));
    return jv_string_value(to_jv(s));
}

PeerValue peer_string(const char *text) {
    return from_jv(jv_string(text));
}

PeerValue peer_object_get(PeerValue o, PeerValue key) {
    return from_jv(jv_object_get(jv_copy(to_jv(o)), jv_copy(to_jv(key))));
}

PeerValue peer_object_set(PeerValue o, PeerValue key, double v) {
    return from_jv(jv_object_set(to_jv(o), to_jv(key), jv_number(v)));
}

PeerValue peer_array_push(PeerValue a, double v) {
    return from_jv(jv_array_append(to_jv(a), jv_number(v)));
}
