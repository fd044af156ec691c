#include "options.h"

#include "ascii.h"
#include "buf.h"
#include "help.h"
#include "json_build.h"
#include "json_duration.h"
#include "json_error.h"
#include "mem.h"
#include "place.h"
#include "servers.h"
#include "settings.h"
#include "stores.h"
#include "suggest.h"
#include "terminal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MAX_VALUES = 2 };

static const Option help_option = {.name = "help", .letter = 'h'};

/* Where we are in the command line. */
typedef struct Reader {
    const Command *command;
    char **next; /* the first argument not yet used */
    char **end;
    char *args; /* what the command takes */
    bool wants_help;
} Reader;

/* Whether the command line asks for JSON, whatever else is wrong with it. */
static bool wants_json;

static bool has_json(const Command *c, int argc, char **argv) {
    bool knows = false;
    for (const Option *o = c->options; o && o->name; o++) knows = knows || !strcmp(o->name, "json");
    for (int i = 1; knows && i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--json")) return true;
    }
    return false;
}

bool options_refuse(const Command *command, const Error *err) {
    if (wants_json) cli_put_error(error_json(err));
    terminal_say(stderr, "pawl %s: %s\n", command->name, err->msg);
    return false;
}

bool options_complain(const Command *command, const char *fmt, ...) {
    va_list args;
    if (wants_json) {
        Error err = ERROR_INIT;
        va_start(args, fmt);
        error_vset_at(&err, ERR_USAGE, 0, 0, fmt, args);
        va_end(args);
        cli_put_error(error_json(&err));
    }
    fprintf(stderr, "pawl %s: ", command->name);
    va_start(args, fmt);
    terminal_vsay(stderr, fmt, args);
    va_end(args);
    fprintf(stderr, "\nTry `pawl help %s`.\n", command->name);
    return false;
}

static const Option *find_long(const Command *command, const char *name, size_t len) {
    Suggestion nearest = suggestion_for(name, len);
    for (const Option *o = command->options; o && o->name; o++) {
        if (text_is(name, len, o->name)) return o;
        suggestion_offer(&nearest, o->name);
    }
    if (text_is(name, len, help_option.name)) return &help_option;
    suggestion_offer(&nearest, help_option.name);
    if (text_is(name, len, "server")) {
        options_complain(command,
                         "it works on this machine alone, so there is no server for it to ask.");
        return NULL;
    }
    options_complain(command, "there is no option --%.*s%s%s%s", (int)len, name,
                     nearest.best ? "; did you mean --" : "", nearest.best ? nearest.best : "",
                     nearest.best ? "?" : ".");
    return NULL;
}

static const Option *find_short(const Command *command, char letter, const char *bundle) {
    for (const Option *o = command->options; o && o->name; o++) {
        if (o->letter == letter) return o;
    }
    if (letter == help_option.letter) return &help_option;
    if (strlen(bundle) == 2) {
        options_complain(command, "there is no option %s.", bundle);
    } else {
        options_complain(command, "there is no option -%c (in %s).", letter, bundle);
    }
    return NULL;
}

/* The place of a word among those that the option takes, from 0; -1 after saying which words there are. */
static int word_index(const Command *command, const Option *option, const char *word) {
    size_t len = strlen(word), n;
    int index = 0;
    for (const char *at = option->values; *at; at += n + (at[n] == '|'), index++) {
        n = strcspn(at, "|");
        if (n == len && memcmp(at, word, n) == 0) return index;
    }
    Buf words = BUF_INIT;
    for (const char *c = option->values; *c; c++) {
        buf_add(&words, *c == '|' ? ", " : c, *c == '|' ? 2 : 1);
    }
    options_complain(command, "--%s takes one of %s; not `%s`.", option->name, words.data, word);
    buf_clear(&words);
    return -1;
}

/* A whole number from 1 on; false after saying what the option takes. */
static bool read_count(const Command *command, const Option *option, const char *text,
                       int64_t *number) {
    char *end;
    errno = 0;
    *number = strtoll(text, &end, 10);
    return (end != text && !*end && !errno && *number >= 1) ||
           options_complain(command, "--%s takes a whole number from 1 on, not `%s`.", option->name,
                            text);
}

static bool read_names(const Command *command, const Option *option, const char *text,
                       Json *names) {
    size_t len;
    if (json_is_none(*names)) *names = json_array();
    for (const char *at = text; at; at = at[len] ? at + len + 1 : NULL) {
        len = strcspn(at, ",");
        if (!len || strcspn(at, "= \t\n*?[") < len - (at[len - 1] == '*')) {
            return options_complain(command,
                                    "--%s takes names, parted by commas, each of a variable or, "
                                    "as NAME*, of all that begin so; not `%s`.",
                                    option->name, text);
        }
        *names = json_array_push(*names, json_string(at, len));
    }
    return true;
}

static bool read_root(const Command *command, const Option *option, const char *text,
                      SafeRoot **root) {
    Error err = ERROR_INIT;
    if (!*text) return options_complain(command, "--%s takes the name of a folder.", option->name);
    char *here = getcwd(NULL, 0);
    safe_root_free(*root);
    *root = safe_root_new(text, here ? here : "/", &err);
    free(here);
    return *root || options_complain(command, "--%s: %s", option->name, err.msg);
}

static bool read_net(const Command *command, const Option *option, const char *text,
                     NetPolicy **net) {
    Error err = ERROR_INIT;
    if (!*net) *net = net_policy_new();
    return net_policy_add_list(*net, text, &err) ||
           options_complain(command, "--%s: %s", option->name, err.msg);
}

static bool add_folder(const Command *command, const Option *option, const char *text,
                       Folders *folders) {
    size_t most = sizeof folders->items / sizeof *folders->items;
    if (!*text) return options_complain(command, "--%s takes a folder.", option->name);
    if (folders->n == most) {
        return options_complain(command, "--%s can be given %zu times.", option->name, most);
    }
    struct stat st;
    if (stat(text, &st) || !S_ISDIR(st.st_mode)) {
        return options_complain(command, "--%s takes a folder, and %s is none.", option->name,
                                text);
    }
    folders->items[folders->n++] = text;
    return true;
}

/* A time, or how long ago. */
static bool read_time(const Command *c, const Option *option, const char *text, Json *out) {
    struct timespec now;
    int64_t ms;
    Json value = json_string_c(text);
    json_clear(out);
    if (json_time_ms(value, &ms)) {
        *out = value;
        return true;
    }
    bool ago = json_duration(value, &ms);
    json_unref(value);
    if (!ago) {
        return options_complain(c,
                                "--%s takes how long ago, as 10m or 2h, or a time such as "
                                "2026-11-16T04:35:57.123Z, not `%s`.",
                                option->name, text);
    }
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t at = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 - ms;
    *out = json_time(at > 0 ? at : 0);
    return true;
}

/* Puts what was given into its field. */
static bool take(const Command *c, const Option *option, const char *text, void *field) {
    switch (option->kind) {
    case OPTION_OWN: break;
    case OPTION_FLAG: *(bool *)field = true; break;
    case OPTION_TEXT: *(const char **)field = text; break;
    case OPTION_WORD: *(const char **)field = text; return word_index(c, option, text) >= 0;
    case OPTION_CHOICE: return (*(int *)field = word_index(c, option, text) + 1) > 0;
    case OPTION_COUNT: return read_count(c, option, text, field);
    case OPTION_NEW_THREAD: *(const char **)field = text; return place_thread_name(c, text);
    case OPTION_PLACE: place_clear(field); return place_parse(c, text, field);
    case OPTION_VALUE: return settings_value(c, option, text, field);
    case OPTION_TIME: return read_time(c, option, text, field);
    case OPTION_TEXT_OF: return settings_text(c, text, field);
    case OPTION_SETTINGS: return settings_add(c, text, field);
    case OPTION_NAMES: return read_names(c, option, text, field);
    case OPTION_ROOT: return read_root(c, option, text, field);
    case OPTION_NET: return read_net(c, option, text, field);
    case OPTION_FOLDERS: return add_folder(c, option, text, field);
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
    while (have < want && r->next < r->end) values[have++] = *r->next++;
    if (have < want) {
        return options_complain(r->command, "--%s takes %s: --%s %s.", option->name,
                                want == 1 ? "a value" : "two values", option->name, option->values);
    }
    return option->kind == OPTION_OWN ? r->command->handle(r->args, option, values)
                                      : take(r->command, option, values[0], r->args + option->at);
}

static bool read_long(Reader *r, char *text) {
    char *equals = strchr(text, '=');
    size_t len = equals ? (size_t)(equals - text) : strlen(text);
    const Option *option = find_long(r->command, text, len);
    if (!option) return false;
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
    bool ok = true;
    for (const char *letter = bundle + 1; ok && *letter; letter++) {
        const Option *option = find_short(r->command, *letter, bundle);
        ok = option && hand_over(r, option, NULL);
    }
    return ok;
}

static bool read_argument(Reader *r, char *text) {
    char *values[MAX_VALUES + 1] = {text};
    Place *place = (Place *)(r->args + r->command->place);
    if (r->command->place && !(place->thread && r->command->argument)) {
        return place_argument(r->command, text, place);
    }
    if (r->command->argument) {
        const char **argument = (const char **)(r->args + r->command->argument);
        if (*argument) {
            return options_complain(r->command, "it takes one %s, but was given `%s` too.",
                                    r->command->one, text);
        }
        *argument = text;
        return true;
    }
    if (!r->command->handle || r->command->arguments[0] == '\0') {
        return options_complain(r->command, "it takes no arguments, but was given `%s`.", text);
    }
    return r->command->handle(r->args, NULL, values);
}

/* False at what is wrong, and where help is asked for. */
static bool read_all(Reader *r) {
    bool ok = true, only_arguments = false;
    while (ok && !r->wants_help && r->next < r->end) {
        char *text = *r->next++;
        bool option = text[0] == '-' && (text[1] == '-' || ascii_is_letter(text[1]));
        if (only_arguments || !option) {
            ok = read_argument(r, text);
        } else if (text[1] != '-') {
            ok = read_bundle(r, text);
        } else if (text[2] == '\0') {
            only_arguments = true;
        } else {
            ok = read_long(r, text + 2);
        }
    }
    return ok && !r->wants_help;
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

/* Where it works: here, or at a server. */
static bool is_sensible(const Command *c, const void *args) {
    const Option *o = c->options;
    while (o && o->name && strcmp(o->name, "server") != 0) o++;
    return !o || !o->name || cli_place_is_sensible(args);
}

int options_run(const Command *c, int argc, char **argv) {
    char *args = mem_zalloc(c->args);
    Place *place = c->place ? (Place *)(args + c->place) : NULL;
    Reader r = {.command = c, .next = argv + 1, .end = argv + argc, .args = args};
    int code = EXIT_USAGE;
    ((Common *)args)->command = c;
    wants_json = has_json(c, argc, argv);
    if (read_all(&r) && (!place || has_place(c, place)) && is_sensible(c, args)) {
        code = c->act(args);
    } else if (r.wants_help) {
        help_command(c, stdout);
        code = EXIT_OK;
    }
    for (const Option *o = c->options; o && o->name; o++) {
        if (o->kind == OPTION_PLACE) {
            place_clear((Place *)(args + o->at));
        } else if (o->kind == OPTION_ROOT) {
            safe_root_free(*(SafeRoot **)(args + o->at));
        } else if (o->kind == OPTION_NET) {
            net_policy_free(*(NetPolicy **)(args + o->at));
        } else if (o->kind >= OPTION_VALUE) {
            json_clear((Json *)(args + o->at));
        }
    }
    if (place) place_clear(place);
    if (c->clear) c->clear(args);
    mem_free(args);
    return code;
}
