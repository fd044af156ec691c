/* check.c - the benchmarks measure the same thing on both sides: results are compared with libjq's.
 *
 * Small documents, no timing; prints TAP and runs among the tests where libjq is installed.
 */
#include "conditions.h"
#include "documents.h"
#include "jq.h"
#include "json_diff.h"
#include "json_parse.h"
#include "json_print.h"
#include "peer_jq.h"

#include <stdio.h>
#include <string.h>

static int cases, failures;

static void check(bool holds, const char *what) {
    cases++;
    failures += !holds;
    printf("%sok %d - %s\n", holds ? "" : "not ", cases, what);
}

static Json from_peer(PeerValue v) {
    PeerValue printed = peer_print(v, 0);
    size_t len;
    const char *text = peer_text(printed, &len);
    Json j = json_parse(text, len, NULL, NULL);
    peer_unref(printed);
    return j;
}

static bool same(Json ours, PeerValue peer) {
    Json theirs = from_peer(peer);
    bool equal = json_equal(ours, theirs);
    json_unref(theirs);
    return equal;
}

static void check_expression(const char *text, Json input, PeerValue peer_input) {
    PeerProgram *peer = peer_program_new();
    bool compiled = peer_compile(peer, text);
    Json ours = jq_eval(text, input, NULL, NULL);
    PeerValue theirs = peer_first(peer, peer_input);
    check(compiled && peer_valid(theirs) && same(ours, theirs), text);
    json_unref(ours);
    peer_unref(theirs);
    peer_program_free(peer);
}

static void check_conditions(void) {
    Json state = json_parse(condition_state, strlen(condition_state), NULL, NULL);
    PeerValue peer = peer_parse(condition_state, strlen(condition_state));
    check(same(state, peer), "the state is the same value");
    for (int i = 0; i < CONDITIONS; i++) {
        check_expression(conditions[i], state, peer);
    }
    json_unref(state);
    peer_unref(peer);
}

static void check_document(const char *name, void (*write)(Buf *, size_t), size_t size) {
    Buf text = BUF_INIT, printed = BUF_INIT;
    write(&text, size);
    Json j = json_parse(text.data, text.len, NULL, NULL);
    PeerValue peer = peer_parse(text.data, text.len);
    json_print(j, NULL, &printed);
    Json again = json_parse(printed.data, printed.len, NULL, NULL);
    check(!json_is_none(j) && same(j, peer) && json_equal(j, again), name);
    json_unref(j);
    json_unref(again);
    peer_unref(peer);
    buf_clear(&text);
    buf_clear(&printed);
}

static void check_documents(void) {
    static const struct {
        const char *name;
        void (*write)(Buf *, size_t);
        size_t size;
    } documents[] = {
        {"records parse and print alike", document_records, 50000},
        {"records by name parse and print alike", document_by_name, 50000},
        {"pretty records parse and print alike", document_pretty, 50000},
        {"numbers parse and print alike", document_numbers, 50000},
        {"strings parse and print alike", document_strings, 50000},
        {"an object of many keys parses and prints alike", document_keys, 2000},
        {"an array of many numbers parses and prints alike", document_array, 2000},
    };
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        check_document(documents[i].name, documents[i].write, documents[i].size);
    }
}

static void check_update(void) {
    Buf text = BUF_INIT;
    document_keys(&text, 1000);
    Json base = json_parse(text.data, text.len, NULL, NULL);
    PeerValue peer = peer_parse(text.data, text.len);
    Json ours = json_object_set(json_ref(base), json_string_c("key-500"), json_int(0));
    PeerValue theirs = peer_object_set(peer_ref(peer), peer_string("key-500"), 0);
    check(same(ours, theirs) && same(base, peer), "one key is set, and the shared object is not");
    Json patch = json_diff(base, ours);
    Json patched = json_patch(json_ref(base), patch, NULL);
    check(json_array_len(patch) == 1 && json_equal(patched, ours), "the diff is the one change");
    json_unref(patch);
    json_unref(patched);
    json_unref(ours);
    json_unref(base);
    peer_unref(theirs);
    peer_unref(peer);
    buf_clear(&text);
}

int main(void) {
    check_conditions();
    check_documents();
    check_update();
    printf("1..%d\n", cases);
    return failures ? 1 : 0;
}
