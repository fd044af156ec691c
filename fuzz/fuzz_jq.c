/* fuzz_jq - any bytes as an expression and its input.
 *
 * The first line is the expression, the rest the input (null when it is not JSON). Whatever
 * compiles is run with small budgets. A run in slices gives what a run in one piece gives, so does
 * a run that was started before, nothing is left on the heap, and the tools for editors answer for
 * any text and any cursor.
 */
#include "jq.h"
#include "json_parse.h"
#include "json_print.h"

#include <stdint.h>
#include <stdlib.h>

#define CHECK(holds)           \
    do {                       \
        if (!(holds)) abort(); \
    } while (0)

enum { OUTPUTS_MAX = 100, TEXT_MAX = 10000 };

static double fixed_now(void *ctx) {
    (void)ctx;
    return 1700000000.25;
}

static JqHost host(uint64_t slice) {
    return (JqHost){
        .budget = {.steps = 20000, .memory = (size_t)8 << 20, .depth = 2000, .slice = slice},
        .now = fixed_now};
}

static void note_output(Json out, Buf *log) {
    json_print(out, &(JsonPrintOptions){.max_bytes = TEXT_MAX}, log);
    buf_addc(log, '\n');
}

/* How the run ended. Slices look at the memory budget too, so it may strike elsewhere. */
static void note_end(const JqRun *run, JqStatus status, Buf *log) {
    if (status == JQ_FAILED && jq_run_error(run)->code != ERR_LIMIT) {
        buf_adds(log, jq_run_error(run)->msg);
    }
}

static bool hit_limit(const JqRun *run, JqStatus status) {
    return status == JQ_FAILED && jq_run_error(run)->code == ERR_LIMIT;
}

/* Writes the outputs into log; false when a budget ended it. */
static bool run_out(JqRun *run, Json input, Buf *log) {
    Json out;
    JqStatus status = JQ_DONE;
    jq_run_start(run, json_ref(input), NULL);
    for (int n = 0; n < OUTPUTS_MAX; n++) {
        while ((status = jq_run_next(run, &out)) == JQ_PAUSED) {}
        if (status != JQ_OUTPUT) {
            break;
        }
        note_output(out, log);
        json_unref(out);
    }
    note_end(run, status, log);
    return !hit_limit(run, status);
}

static bool same(const Buf *a, const Buf *b) {
    return a->len == b->len && (a->len == 0 || !memcmp(a->data, b->data, a->len));
}

static void check_slices(const JqProgram *p, Json input) {
    JqHost whole = host(0), sliced = host(7);
    JqRun *a = jq_run_new(p, &whole), *b = jq_run_new(p, &sliced);
    Buf once = BUF_INIT, again = BUF_INIT, pieces = BUF_INIT;
    bool ended =
        run_out(a, input, &once) && run_out(a, input, &again) && run_out(b, input, &pieces);
    CHECK(!ended || (same(&once, &again) && same(&once, &pieces)));
    jq_run_free(a);
    jq_run_free(b);
    buf_clear(&once);
    buf_clear(&again);
    buf_clear(&pieces);
}

static void check_program(const char *text, size_t len, Json input) {
    Error err = ERROR_INIT;
    JqProgram *p = jq_compile(text, len, NULL, &err);
    if (!p) {
        CHECK(err.code != ERR_NONE && err.msg[0]);
        return;
    }
    check_slices(p, input);
    jq_program_free(p);
}

/* At the end, and at a place that the text itself chooses. */
static void check_completion(const char *text, size_t len, Json input) {
    size_t cursors[] = {len, len ? (size_t)(unsigned char)text[len - 1] % (len + 1) : 0};
    for (size_t i = 0; i < 2; i++) {
        Json list = jq_complete(text, len, cursors[i], NULL, input);
        CHECK(json_kind(list) == JSON_ARRAY);
        json_unref(list);
    }
}

static size_t first_line(const char *text, size_t len) {
    size_t n = 0;
    while (n < len && text[n] != '\n' && text[n] != '\0') {
        n++;
    }
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const char *text = (const char *)data;
    size_t len = first_line(text, size), rest = len < size ? len + 1 : size,
           heap = json_heap_bytes();
    Json input = json_parse(text + rest, size - rest, NULL, NULL);
    input = json_is_none(input) ? json_null() : input;
    check_program(text, len, input);
    check_completion(text, len, input);
    json_unref(input);
    CHECK(json_heap_bytes() == heap);
    return 0;
}
