#include "way_out.h"

#include "fields.h"
#include "json_error.h"
#include "mem.h"

#include <string.h>
#include <strings.h>

#define PROMPT        "the debugger's prompt"
#define AT_STORE      "a store of this machine" /* nothing that can be done from afar */
#define ANOTHER_STORE " another store with --store URL or PAWL_STORE."

/* {fact} in the words is the fact as a word for a shell, {=fact} is the fact as it is, {store} is --store or --server URL
 * when that is needed. */
static const struct Row {
    ErrorCode code;
    const char *facts; /* all of them are there */
    const char *words; /* NULL: nothing can be done */
    const char *
        only; /* said by this command or at PROMPT, or about a store of this machine; NULL: by all */
} rows[] = {
    {ERR_NOT_FOUND, "frame", "`frames` lists them.", PROMPT},
    {ERR_NOT_FOUND, "operation", "`operations` lists them.", PROMPT},
    {ERR_NOT_FOUND, "checkpoint", "`history` lists those that are there.", PROMPT},
    {ERR_NOT_FOUND, "thread checkpoint",
     "`pawl history {thread}{store}` lists those that are there.", NULL},
    {ERR_NOT_FOUND, "thread node", NULL, PROMPT},
    {ERR_NOT_FOUND, "thread node", "`pawl history {thread}{store}` shows which nodes ran.", NULL},
    {ERR_NOT_FOUND, "store", "Start something with `pawl run`, or name" ANOTHER_STORE, AT_STORE},
    {ERR_NOT_FOUND, "thread", "`pawl runs{store}` lists all threads.", NULL},
    {ERR_EXISTS, "thread", "Resume it with `pawl resume {thread}{store}`, or take another name.",
     NULL},
    {ERR_ENDED, "frame", "`back` goes back into it.", PROMPT},
    {ERR_ENDED, "thread checkpoints",
     "Start it again with `pawl run FILE --thread {thread}{store}`.", NULL},
    {ERR_ENDED, "thread", NULL, "cancel"},
    {ERR_ENDED, "thread",
     "`pawl history {thread}{store}` lists its checkpoints; `pawl resume {thread}@SEQ{store}` goes "
     "on from one of them.",
     NULL},
    {ERR_BUSY, "thread", "Wait for it, or cancel it with `pawl cancel {thread}{store}`.", NULL},
    {ERR_ANSWER, "interrupts", "Choose one with `answer ID`.", PROMPT},
    {ERR_ANSWER, "options", "Answer it with `answer {=options}`, or with `answer JSON`.", PROMPT},
    {ERR_ANSWER, "interrupt", "Answer it with `answer JSON`.", PROMPT},
    {ERR_ANSWER, "interrupts", "Choose one with --interrupt ID.", NULL},
    {ERR_ANSWER, "options", "Answer it with --decision {=options}, or with --value JSON.", NULL},
    {ERR_ANSWER, "interrupt", "Answer it with --value JSON.", NULL},
    {ERR_NOT_FOUND, "secret", "`pawl secret list{store}` lists those that are there.", NULL},
    {ERR_SECRET, "key_file exposed", "Close it to others with `chmod 600 {key_file}`.", AT_STORE},
    {ERR_SECRET, "key_file missing",
     "Put it back, or name the right one with --key-file FILE or PAWL_KEY_FILE. Secrets whose key is lost "
     "can only be removed and set again.",
     AT_STORE},
    {ERR_SECRET, "key_file other",
     "Name the right one with --key-file FILE or PAWL_KEY_FILE. Secrets whose key is lost can only be "
     "removed and set again.",
     AT_STORE},
    {ERR_SECRET, "unfit", NULL, NULL},
    {ERR_SECRET, "key_file", NULL, NULL},
    {ERR_SECRET, "secrets_file", NULL, NULL},
    {ERR_SECRET, "secret",
     "Keep it in the store with `pawl secret set {secret}{store}`, or give it as the variable "
     "PAWL_SECRET_{=secret} or as a file in the folder of --secrets.",
     AT_STORE},
    {ERR_USAGE, "address", "Start it with --auth, and let people in with `pawl token make NAME`.",
     "serve"},
    {ERR_BUSY, "address", "Name another with --listen, or take the next one with --next-port.",
     "serve"},
    {ERR_USAGE, "server token", NULL, "login"},
    {ERR_USAGE, "server token", "`pawl login {server}` keeps one for it.", NULL},
    {ERR_USAGE, "server plain",
     "Use https, or say with `pawl login {server} --plain` that nobody listens on the way.", NULL},
    {ERR_IO, "server certificate",
     "If it is the right server, name the certificate that vouches for it with --ca FILE.", NULL},
    {ERR_USAGE, "thread gone",
     "Resume from an earlier checkpoint (`pawl resume {thread}@SEQ{store}`), or without --reload.",
     NULL},
    {ERR_USAGE, "thread parked", "`pawl debug {thread}{store}` takes it up.", NULL},
    {ERR_USAGE, "thread checkpoint",
     "Go on from there with `pawl resume {thread}@{checkpoint}{store}`.", NULL},
    {ERR_IO, "lock", "`fuser -v {lock}` names those who have it open.", AT_STORE},
    {ERR_IO, "link", "Remove it if you did not make it, or name" ANOTHER_STORE, AT_STORE},
    {ERR_IO, "foreign",
     "Do it as its owner, or, if it is meant to be yours, make it so with `chown` and `chmod go-w`; otherwise name" ANOTHER_STORE,
     AT_STORE},
    {ERR_IO, "folder", "Make the folder writable, or name" ANOTHER_STORE, AT_STORE},
    {ERR_IO, "store", "Name" ANOTHER_STORE, AT_STORE},
    {ERR_DATA, "format", "Take that version, or name" ANOTHER_STORE, AT_STORE},
    {ERR_DATA, "store", "Name" ANOTHER_STORE, AT_STORE},
    {ERR_DATA, "damaged", NULL, "store"},
    {ERR_DATA, "damaged", "`pawl store check{store}` lists all that is damaged.", NULL},
};

void shell_word(Buf *out, const char *word) {
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./:@%+,=";
    if (word[0] && strspn(word, plain) == strlen(word)) {
        buf_adds(out, word);
        return;
    }
    buf_addc(out, '\'');
    for (; *word; word++) {
        if (*word == '\'') {
            buf_adds(out, "'\\''");
        } else {
            buf_addc(out, *word);
        }
    }
    buf_addc(out, '\'');
}

void place_words(Buf *out, const char *place) {
    if (!place) return;
    bool server = !strncasecmp(place, "http://", 7) || !strncasecmp(place, "https://", 8);
    buf_adds(out, server ? " --server " : " --store ");
    shell_word(out, place);
}

static Json fact(Json facts, const char *name, size_t len) {
    Json key = json_string(name, len), value = json_object_get(facts, key);
    json_unref(key);
    return value;
}

static bool has_all(Json facts, const char *names) {
    for (size_t len; *names; names += len + (names[len] == ' ')) {
        len = strcspn(names, " ");
        if (json_is_none(fact(facts, names, len))) return false;
    }
    return true;
}

static void add_words(Buf *out, const char *words, Json facts, const char *store) {
    for (size_t len; *words; words += len) {
        len = strcspn(words, "{");
        buf_add(out, words, len);
        if (!words[len]) return;
        bool raw = words[len + 1] == '=';
        const char *name = words + len + 1 + raw;
        size_t named = strcspn(name, "}");
        if (!strncmp(name, "store}", strlen("store}"))) {
            place_words(out, store);
        } else {
            char *text = field_shown(fact(facts, name, named));
            if (raw) {
                buf_adds(out, text);
            } else {
                shell_word(out, text);
            }
            mem_free(text);
        }
        len += raw + named + 2;
    }
}

void say_error(Buf *out, const Error *err, const Speaker *speaker) {
    const char *by = speaker->command ? speaker->command : PROMPT;
    Json facts = error_json(err);
    buf_adds(out, err->msg);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct Row *row = &rows[i];
        bool its = !row->only || !strcmp(row->only, by) ||
                   (!strcmp(row->only, AT_STORE) && !speaker->server);
        if (row->code == err->code && its && has_all(facts, row->facts)) {
            if (row->words) {
                buf_addc(out, ' ');
                add_words(out, row->words, facts, speaker->store);
            }
            break;
        }
    }
    json_unref(facts);
}
