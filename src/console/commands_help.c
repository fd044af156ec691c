/* commands_help.c - the commands, explained. */
#include "commands.h"

#include "terminal.h"

#include <string.h>

static const char *const group_names[WORDS_GROUPS] = {
    "Breakpoints and watches", "Running", "Looking", "Changing", "The session",
};

void words_usage(const Word *word, Buf *out) {
    buf_printf(out, "Usage: %s%s%s\n", word->name, word->arguments[0] ? " " : "", word->arguments);
}

enum { NAME_WIDTH = 18 };

static void add_group(WordGroup group, Buf *out) {
    buf_printf(out, "%s%s:\n", group ? "\n" : "", group_names[group]);
    for (const Word *w = debug_words; w->name; w++) {
        if (w->group == group) {
            buf_printf(out, "  %-*s%s\n", NAME_WIDTH, w->name, w->summary);
        }
    }
}

/* Paragraphs of text, broken at blanks. */
static void add_wrapped(const char *text, int width, Buf *out) {
    size_t column = 0;
    while (*text) {
        size_t n = strcspn(text, " "), shown = terminal_text_columns(text, n);
        if (column && column + 1 + shown > (size_t)width) {
            buf_addc(out, '\n');
            column = 0;
        }
        buf_adds(out, column ? " " : "");
        column += shown + (column ? 1 : 0);
        buf_add(out, text, n);
        text += n + (text[n] == ' ');
    }
    buf_addc(out, '\n');
}

void words_help(int width, Buf *out) {
    for (int group = 0; group < WORDS_GROUPS; group++) {
        add_group((WordGroup)group, out);
    }
    buf_addc(out, '\n');
    add_wrapped(
        "A command may be cut short as long as it can be told from the others. An empty line "
        "steps or lists again. `help COMMAND` explains one.",
        width, out);
}

static void add_aliases(const Word *word, Buf *out) {
    buf_adds(out, "Also: ");
    for (const char *c = word->aliases; *c; c++) {
        buf_add(out, *c == ' ' ? ", " : c, *c == ' ' ? 2 : 1);
    }
    buf_addc(out, '\n');
}

void words_explain(const Word *word, int width, Buf *out) {
    words_usage(word, out);
    Buf text = BUF_INIT;
    buf_printf(&text, "%c%s.%s%s", word->summary[0] - 'a' + 'A', word->summary + 1,
               word->details ? " " : "", word->details ? word->details : "");
    add_wrapped(text.data, width, out);
    buf_clear(&text);
    if (word->aliases[0]) {
        add_aliases(word, out);
    }
    if (word->example) {
        buf_printf(out, "Example: %s\n", word->example);
    }
}
