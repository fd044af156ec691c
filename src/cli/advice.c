#include "advice.h"

#include "fields.h"
#include "mem.h"
#include "terminal.h"
#include "way_out.h"

#include <string.h>

/* Words for people, and behind them one for a shell; nothing without it. */
static void add_words(Buf *out, const char *words, const char *word) {
    if (word) {
        buf_adds(out, words);
        shell_word(out, word);
    }
}

void advice_resume(Buf *out, const char *thread, const char *store) {
    add_words(out, "pawl resume ", thread);
    place_words(out, store);
}

void say_resume(const char *thread, const char *store, const char *before) {
    Buf line = BUF_INIT;
    advice_resume(&line, thread, store);
    terminal_say(stderr, "%s%s\n", before, line.data);
    buf_clear(&line);
}

void say_history(FILE *out, const char *thread, const char *store) {
    Buf line = BUF_INIT;
    add_words(&line, "pawl history ", thread);
    place_words(&line, store);
    terminal_say(out, "Its cleanup tasks have run. `%s` shows where to go back to.\n", line.data);
    buf_clear(&line);
}

void advice_start(Buf *out, const char *file, const char *thread, const char *store) {
    add_words(out, "pawl run ", file);
    add_words(out, " --thread ", thread);
    place_words(out, store);
}

/* ---- interrupts ---- */

/* What is asked: on the same line, or below it when it is longer than that. */
static void add_prompt(Buf *out, Json prompt) {
    char *text = field_shown(prompt);
    if (!strchr(text, '\n')) {
        buf_printf(out, ": %s\n", text);
    } else {
        buf_adds(out, ":\n");
        for (const char *line = text; *line;) {
            size_t len = strcspn(line, "\n");
            buf_printf(out, "    | %.*s\n", (int)len, line);
            line += len + (line[len] == '\n');
        }
    }
    mem_free(text);
}

/* What all commands that answer one interrupt share. */
typedef struct Answer {
    const char *thread, *store;
    const char *id; /* NULL: need not be named */
} Answer;

static void add_answer(Buf *out, const Answer *a, const char *option, const char *word) {
    buf_adds(out, "    ");
    advice_resume(out, a->thread, a->store);
    add_words(out, " --interrupt ", a->id);
    add_words(out, option, word);
    buf_addc(out, '\n');
}

static void add_answers(Buf *out, const Answer *a, Json interrupt) {
    Json options = field_get(interrupt, "options"), reason = field_get(interrupt, "reason");
    size_t n = json_array_len(options);
    for (size_t i = 0; i < n; i++) {
        char *word = field_shown(json_array_get(options, i));
        add_answer(out, a, " --decision ", word);
        mem_free(word);
    }
    if (n == 0 && (json_string_is(reason, "before") || json_string_is(reason, "after"))) {
        add_answer(out, a, NULL, NULL);
    } else if (json_string_is(reason, "action")) {
        add_answer(out, a, " --response-file ", "FILE");
    } else if (n == 0 && json_string_is(reason, "approval")) {
        add_answer(out, a, " --decision ", "WORD");
    } else if (n == 0) {
        add_answer(out, a, " --value ", "JSON");
    }
}

void advice_interrupt(Buf *out, Json interrupt, bool one, const char *thread, const char *store) {
    Json prompt = field_get(interrupt, "prompt"), reason = field_get(interrupt, "reason");
    Json inner = field_get(prompt, "prompt");
    Json message = field_get(field_get(prompt, "error"), "message");
    char *node = field_shown(field_get(interrupt, "node")),
         *id = field_shown(field_get(interrupt, "id"));
    bool after = json_string_is(reason, "after"), before = json_string_is(reason, "before");
    buf_printf(out, "Waiting %s %s", after ? "after" : before ? "before" : "at", node);
    if (field_is_text(inner) && field_is_text(message)) { /* an action whose model did not answer */
        char *why = field_shown(message);
        add_prompt(out, inner);
        buf_printf(out, "The model did not answer: %s\n", why);
        mem_free(why);
    } else if (json_truthy(prompt)) {
        add_prompt(out, prompt);
    } else {
        buf_addc(out, '\n');
    }
    if (thread) add_answers(out, &(Answer){thread, store, one ? NULL : id}, interrupt);
    mem_free(node);
    mem_free(id);
}
