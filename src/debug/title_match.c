#include "title_match.h"

#include "ascii.h"
#include "breakpoint.h"
#include "config.h"
#include "evaluator.h"
#include "placeholder.h"

#include <string.h>

static Json written(const Node *node) {
    Json title = node->task ? node->task->title : json_none();
    return json_kind(title) == JSON_STRING ? title : json_none();
}

/* What is before the first placeholder has to be there: most titles are told apart by it. */
static bool begins_so(const char *text, size_t len, const char *s, size_t n) {
    TextPart part;
    for (size_t at = 0; next_part(text, len, &at, &part) && part.kind == PART_TEXT;) {
        size_t piece = part.end - part.at;
        if (part.at + piece > n || memcmp(text + part.at, s + part.at, piece) != 0) return false;
    }
    return true;
}

/* Whether a text is that of a pattern, in which NUL stands for anything. Only the last of them needs another try: what
 * an earlier one could take is in the later one's reach. */
static bool fits(const char *p, const char *end, const char *s, const char *s_end) {
    const char *open = NULL, *retry = NULL;
    while (s < s_end) {
        if (p < end && *p == '\0') {
            open = ++p;
            retry = s;
        } else if (p < end && *p == *s) {
            p++;
            s++;
        } else if (open) {
            p = open;
            s = ++retry;
        } else {
            return false;
        }
    }
    while (p < end && *p == '\0') p++;
    return p == end;
}

TitleMatch title_match(const Node *node, Json title) {
    Json own = written(node);
    if (json_is_none(own)) return TITLE_OTHER;
    if (json_string_equal(own, title)) return TITLE_WRITTEN;
    const char *text = json_string_data(&own), *s = json_string_data(&title);
    size_t len = json_string_len(own), n = json_string_len(title);
    if (!memchr(text, '$', len) || !begins_so(text, len, s, n)) return TITLE_OTHER;
    Buf pattern = BUF_INIT;
    TextPart part;
    bool open = false, says = false;
    for (size_t at = 0; next_part(text, len, &at, &part);) {
        bool plain = part.kind == PART_TEXT;
        open = open || !plain;
        buf_add(&pattern, plain ? text + part.at : "", plain ? part.end - part.at : 1);
        for (size_t i = part.at; plain && i < part.end; i++) {
            says = says || !ascii_is_white(text[i]);
        }
    }
    bool could = open && fits(pattern.data, pattern.data + pattern.len, s, s + n);
    buf_clear(&pattern);
    return !could ? TITLE_OTHER : says ? TITLE_OPEN : TITLE_BLANK;
}

static Json ask(void *ctx, const Expr *query, Json vars, Error *err) {
    static const JqHost host = {
        .budget = {.steps = BREAK_STEPS, .memory = BREAK_MEMORY, .slice = 10000}};
    (void)ctx;
    if (query->foreign || query->takes_secrets) return json_none();
    JqRun *run = jq_run_new(query->program, &host);
    Json out = evaluator_first(run, json_ref(vars), NULL, BREAK_MS, err);
    jq_run_free(run);
    return out;
}

bool title_is(const Node *node, Json title, Json vars) {
    TitleMatch match = title_match(node, title);
    if (match == TITLE_OTHER || match == TITLE_WRITTEN) return match == TITLE_WRITTEN;
    ConfigSource source = {vars, ask, NULL};
    Buf text = BUF_INIT;
    config_text(node, written(node), &source, &text);
    bool is = text.len == json_string_len(title) &&
              memcmp(text.data ? text.data : "", json_string_data(&title), text.len) == 0;
    buf_clear(&text);
    return is;
}
