#include "options.h"

#include "buf.h"
#include "help.h"
#include "mem.h"
#include "place.h"
#include "settings.h"
#include "stores.h"
#include "suggest.h"
#include "terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_VALUES = 2 };

static const Option help_option = {.name = "help", .letter = 'h'};

/* Where we are in the command line. */
typedef struct Reader {
    const Command *command;
    char **next; /* the first argument not yet used */
    char **end;
    OptionHandler handle;
    void *ctx;
    bool wants_help;
} Reader;

bool options_complain(const Command *command, const char *fmt, ...) {
    va_list args;
    fprintf(stderr, "pawl %s: ", command->name);
    va_start(args, fmt);
    terminal_vsay(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nTry `pawl help %s`.\n", command->name);
    return false;
}

static bool is_named(const Option *option, const char *name, size_t len) {
    return strlen(option->name) == len && memcmp(option->name, name, len) == 0;
}

static const Option *find_long(const Command *command, const char *name, size_t len) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (is_named(o, name, len)) {
            return o;
        }
    }
    return is_named(&help_option, name, len) ? &help_option : NULL;
}

static const Option *find_short(const Command *command, char letter) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (o->letter == letter) {
            return o;
        }
    }
    return letter == help_option.letter ? &help_option : NULL;
}

static bool unknown_long(const Command *command, const char *name, size_t len) {
    Suggestion nearest = suggestion_for(name, len);
    for (const Option *o = command->options; o && o->name; o++) {
        suggestion_offer(&nearest, o->name);
    }
    suggestion_offer(&nearest, help_option.name);
    if (nearest.best) {
        return options_complain(command, "there is no option --%.*s; did you mean --%s?", (int)len,
                                name, nearest.best);
    }
    return options_complain(command, "there is no option --%.*s.", (int)len, name);
}

static bool unknown_letter(const Command *command, char letter, const char *bundle) {
    if (strlen(bundle) == 2) {
        return options_complain(command, "there is no option %s.", bundle);
    }
    return options_complain(command, "there is no option -%c (in %s).", letter, bundle);
}

/* Puts what was given into its field. */
static bool take(const Command *c, const Option *option, const char *text, void *field) {
    switch (option->kind) {
    case OPTION_OWN: break;
    case OPTION_FLAG: *(bool *)field = true; break;
    case OPTION_TEXT: *(const char **)field = text; break;
    case OPTION_WORD: *(const char **)field = text; return options_word(c, option, text) >= 0;
    case OPTION_CHOICE: return (*(int *)field = options_word(c, option, text) + 1) > 0;
    case OPTION_COUNT: return options_number(c, option, text, 1, field);
    case OPTION_NEW_THREAD: *(const char **)field = text; return place_thread_name(c, text);
    case OPTION_PLACE: place_clear(field); return place_parse(c, text, field);
    case OPTION_VALUE: return settings_value(c, option, text, field);
    case OPTION_TEXT_OF: return settings_text(c, text, field);
    case OPTION_SETTINGS: return settings_add(c, text, field);
    }
    return true;
}

/* Takes the option with the values that follow, the first of which may be given already. */
static bool hand_over(Reader *r, const Option *option, char *given) {
    char *values[MAX_VALUES + 1] = {given};
    int have = given ? 1 : 0;
    int want = option_value_count(option);
    if (option == &help_option) {
        r->wants_help = true;
        return true;
    }
    while (have < want && r->next < r->end) {
        values[have++] = *r->next++;
    }
    if (have < want) {
        return options_complain(r->command, "--%s takes %s: --%s %s.", option->name,
                                want == 1 ? "a value" : "two values", option->name, option->values);
    }
    return option->kind == OPTION_OWN
               ? r->handle(r->ctx, option, values)
               : take(r->command, option, values[0], (char *)r->ctx + option->at);
}

static bool read_long(Reader *r, char *text) {
    char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    const Option *option = find_long(r->command, text, len);
    if (!option) {
        return unknown_long(r->command, text, len);
    }
    if (equals && option_value_count(option) == 0) {
        return options_complain(r->command, "--%s takes no value.", option->name);
    }
    if (equals && option_value_count(option) > 1) {
        return options_complain(r->command,
                                "--%s takes two values, without an equals sign: --%s %s.",
                                option->name, option->name, option->values);
    }
    return hand_over(r, option, equals ? equals + 1 : NULL);
}

static bool read_bundle(Reader *r, const char *bundle) {
    for (const char *letter = bundle + 1; *letter; letter++) {
        const Option *option = find_short(r->command, *letter);
        if (!option) {
            return unknown_letter(r->command, *letter, bundle);
        }
        if (!hand_over(r, option, NULL)) {
            return false;
        }
    }
    return true;
}

static bool read_argument(Reader *r, char *text) {
    char *values[MAX_VALUES + 1] = {text};
    if (r->command->place) {
        return place_argument(r->command, text, (Place *)((char *)r->ctx + r->command->place));
    }
    if (r->command->argument) {
        const char **argument = (const char **)((char *)r->ctx + r->command->argument);
        if (*argument) {
            return options_complain(r->command, "it takes one %s, but was given `%s` too.",
                                    r->command->one, text);
        }
        *argument = text;
        return true;
    }
    if (!r->handle || r->command->arguments[0] == '\0') {
        return options_complain(r->command, "it takes no arguments, but was given `%s`.", text);
    }
    return r->handle(r->ctx, NULL, values);
}

static bool read_next(Reader *r, bool *only_arguments) {
    char *text = *r->next++;
    if (*only_arguments || text[0] != '-' || text[1] == '\0') {
        return read_argument(r, text);
    }
    if (text[1] != '-') {
        return read_bundle(r, text);
    }
    if (text[2] == '\0') {
        *only_arguments = true;
        return true;
    }
    return read_long(r, text + 2);
}

OptionsResult options_parse(const Command *command, int argc, char **argv, OptionHandler handle,
                            void *ctx) {
    Reader r = {
        .command = command, .next = argv + 1, .end = argv + argc, .handle = handle, .ctx = ctx};
    bool only_arguments = false;
    while (r.next < r.end) {
        if (!read_next(&r, &only_arguments)) {
            return OPTIONS_BAD;
        }
        if (r.wants_help) {
            help_command(command, stdout);
            return OPTIONS_SHOWN;
        }
    }
    return OPTIONS_RUN;
}

/* Whether the run that the command is about was named, as it takes it. */
static bool has_place(const Command *c, const Place *place) {
    bool needed = c->arguments[0] != '[', seq = strstr(c->arguments, "@SEQ") != NULL;
    if (needed && !place->thread) {
        return options_complain(c, "which run? It takes %s.",
                                seq ? "THREAD or THREAD@SEQ" : "a THREAD");
    }
    return !place->seq || !c->only_thread || options_complain(c, "%s", c->only_thread);
}

int options_run(const Command *c, int argc, char **argv) {
    if (c->run) {
        return c->run(argc, argv);
    }
    char *args = mem_zalloc(c->args);
    Place *place = c->place ? (Place *)(args + c->place) : NULL;
    ((Common *)args)->command = c;
    OptionsResult parsed = options_parse(c, argc, argv, c->handle, args);
    bool ready = parsed == OPTIONS_RUN && (!place || has_place(c, place));
    int code = ready ? c->act(args) : parsed == OPTIONS_SHOWN ? EXIT_OK : EXIT_USAGE;
    for (const Option *o = c->options; o && o->name; o++) {
        if (o->kind == OPTION_PLACE) {
            place_clear((Place *)(args + o->at));
        } else if (o->kind >= OPTION_VALUE) {
            json_clear((Json *)(args + o->at));
        }
    }
    if (place) {
        place_clear(place);
    }
    if (c->clear) {
        c->clear(args);
    }
    mem_free(args);
    return code;
}

int options_word(const Command *command, const Option *option, const char *word) {
    size_t len = strlen(word), n;
    int index = 0;
    for (const char *at = option->values; *at; at += n + (at[n] == '|'), index++) {
        n = strcspn(at, "|");
        if (n == len && memcmp(at, word, n) == 0) {
            return index;
        }
    }
    Buf words = BUF_INIT;
    for (const char *c = option->values; *c; c++) {
        buf_add(&words, *c == '|' ? ", " : c, *c == '|' ? 2 : 1);
    }
    options_complain(command, "--%s takes one of %s; not `%s`.", option->name, words.data, word);
    buf_clear(&words);
    return -1;
}

bool options_number(const Command *command, const Option *option, const char *text, int64_t least,
                    int64_t *number) {
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end || errno || n < least) {
        return options_complain(command, "--%s takes a whole number from %lld on, not `%s`.",
                                option->name, (long long)least, text);
    }
    *number = n;
    return true;
}
