#include "inputs.h"

#include "json_build.h"
#include "json_parse.h"
#include "mem.h"
#include "safe_file.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READ_SIZE = 256 * 1024 };

struct Inputs {
    char **files;
    size_t nfiles, file; /* the one being read */
    InputsOptions options;
    int fd; /* -1: none open */
    JsonParser *parser;
    Buf text; /* raw mode: read and not yet used, from `used` on */
    size_t used;
    bool ended; /* of the open file */
    bool slurped, unreadable, malformed;
    uint64_t document;
    Buf place;
    Error *err; /* takes what would be said; NULL: it is said */
};

static char standard_name[] = "-";
static char *standard_input[] = {standard_name};

Inputs *inputs_new(char **files, size_t n, InputsOptions options) {
    Inputs *in = mem_zalloc(sizeof *in);
    in->files = n ? files : standard_input;
    in->nfiles = n ? n : 1;
    in->options = options;
    in->fd = -1;
    return in;
}

static bool is_standard_input(const char *path) {
    return path[0] == '-' && !path[1];
}

static void close_file(Inputs *in) {
    if (in->fd >= 0 && !is_standard_input(in->files[in->file])) close(in->fd);
    in->fd = -1;
    json_parser_free(in->parser);
    in->parser = NULL;
}

void inputs_free(Inputs *in) {
    if (!in) return;
    close_file(in);
    buf_clear(&in->text);
    buf_clear(&in->place);
    mem_free(in);
}

bool inputs_unreadable(const Inputs *in) {
    return in->unreadable;
}

bool inputs_malformed(const Inputs *in) {
    return in->malformed;
}

static const char *file_name(const char *path) {
    return is_standard_input(path) ? "<stdin>" : path;
}

const char *inputs_place(Inputs *in) {
    buf_reset(&in->place);
    size_t file = in->file < in->nfiles ? in->file : in->nfiles - 1;
    if (in->options.slurp) {
        buf_printf(&in->place, "all of the input");
    } else {
        const char *what = in->options.raw ? "line" : in->options.events ? "event" : "document";
        buf_printf(&in->place, "%s, %s %llu", file_name(in->files[file]), what,
                   (unsigned long long)in->document);
    }
    return in->place.data;
}

/* Results so far come first, so that the message stands where it belongs. */
static void say(const Inputs *in, const char *what, const char *why) {
    if (in->err) {
        error_set(in->err, ERR_USAGE, "%s: %s%s.", file_name(in->files[in->file]), what, why);
        return;
    }
    fflush(stdout);
    terminal_say(stderr, "pawl %s: %s: %s%s.\n", in->options.command,
                 file_name(in->files[in->file]), what, why);
}

static void cannot(Inputs *in, const char *what, int error) {
    say(in, what, strerror(error));
    in->unreadable = true;
}

/* Opens the current file if it is not open yet; moves on past those that cannot be read. */
static bool open_file(Inputs *in) {
    while (in->fd < 0 && in->file < in->nfiles) {
        const char *path = in->files[in->file];
        in->fd = is_standard_input(path) ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
        in->ended = false;
        in->document = 0;
        if (in->fd < 0) {
            cannot(in, "cannot be opened: ", errno);
            in->file++;
        }
    }
    return in->fd >= 0;
}

static void next_file(Inputs *in) {
    close_file(in);
    in->text.len = in->used = 0;
    in->file++;
}

/* Whether a value of so many bytes is one too many; then what is left of its file goes with it. */
static bool too_large(Inputs *in, uint64_t bytes) {
    if (!in->options.max_bytes || bytes <= in->options.max_bytes) return false;
    say(in, "the input takes more memory than --limit-memory allows", "");
    in->malformed = true;
    next_file(in);
    return true;
}

/* Bytes read into `to`; 0 at the end. A failure is reported and ends the file too, with -1. */
static ssize_t try_read(Inputs *in, char *to, size_t room) {
    ssize_t n;
    do {
        n = read(in->fd, to, room);
    } while (n < 0 && errno == EINTR);
    if (n < 0) cannot(in, "cannot be read: ", errno);
    in->ended = n <= 0;
    return n;
}

static void read_into(Inputs *in, Buf *text) {
    ssize_t n = try_read(in, buf_reserve(text, READ_SIZE), READ_SIZE);
    buf_advance(text, n < 0 ? 0 : (size_t)n);
}

/* ---- JSON ---- */

static void feed_parser(Inputs *in) {
    ssize_t n = try_read(in, json_parser_reserve(in->parser, READ_SIZE), READ_SIZE);
    if (n < 0) {
        next_file(in);
    } else {
        json_parser_commit(in->parser, (size_t)n, in->ended);
    }
}

static bool next_document(Inputs *in, Json *value) {
    while (open_file(in)) {
        Error err = ERROR_INIT;
        if (!in->parser) {
            in->parser =
                json_parser_new(&(JsonParseOptions){.events = in->options.events,
                                                    .event_errors = in->options.event_errors,
                                                    .seq = in->options.seq,
                                                    .max_bytes = in->options.max_bytes});
        }
        switch (json_parser_next(in->parser, value, &err)) {
        case JSON_PARSE_VALUE: in->document++; return true;
        case JSON_PARSE_MORE: feed_parser(in); break;
        case JSON_PARSE_ERROR: {
            bool limit = err.code == ERR_LIMIT;
            if (in->options.event_errors) {
                *value = ARRAY(json_string_c(err.msg), *value);
                in->document++;
                return true;
            }
            say(in, limit ? "a document takes more memory than --limit-memory allows" : err.msg,
                in->options.seq || limit ? " (passed over)" : "");
            in->malformed |= !in->options.seq;
            break;
        }
        case JSON_PARSE_END: next_file(in); break;
        }
    }
    return false;
}

/* ---- text ---- */

/* Drops what was used and reads on. */
static void read_text(Inputs *in) {
    size_t left = in->text.len - in->used;
    if (in->used) {
        memmove(in->text.data, in->text.data + in->used, left);
        in->text.len = left;
        in->used = 0;
    }
    if (!too_large(in, left)) read_into(in, &in->text);
}

/* What was read ends in a whole line, or in the last one of the file. */
static bool take_line(Inputs *in, Json *value) {
    size_t left = in->text.len - in->used;
    const char *from = left ? in->text.data + in->used : NULL;
    const char *end = from ? memchr(from, '\n', left) : NULL;
    if (!end && !(in->ended && left)) return false;
    size_t len = end ? (size_t)(end - from) : left;
    *value = json_string(from, len);
    in->used += len + (end != NULL);
    in->document++;
    return true;
}

static bool next_line(Inputs *in, Json *value) {
    while (open_file(in)) {
        if (take_line(in, value)) return true;
        if (in->ended) {
            next_file(in);
        } else {
            read_text(in);
        }
    }
    return false;
}

static Json all_text(Inputs *in) {
    Buf text = BUF_INIT;
    while (open_file(in)) {
        read_into(in, &text);
        if (in->ended) {
            next_file(in);
        } else if (too_large(in, text.len)) {
            break;
        }
    }
    Json value = json_string(text.data ? text.data : "", text.len);
    buf_clear(&text);
    return value;
}

static Json all_documents(Inputs *in) {
    Json all = json_array(), value;
    while (next_document(in, &value)) {
        all = json_array_push(all, value);
        if (in->options.max_bytes && too_large(in, json_size(all))) break;
    }
    return all;
}

bool inputs_next(Inputs *in, Json *value) {
    if (!in->options.slurp) {
        return in->options.raw ? next_line(in, value) : next_document(in, value);
    }
    if (in->slurped) return false;
    in->slurped = true;
    *value = in->options.raw ? all_text(in) : all_documents(in);
    if (in->malformed) { /* half of a text is not the text */
        json_unref(*value);
        return false;
    }
    return true;
}

/* ---- whole files ---- */

/* A FIFO that nobody writes to would be waited for, and one that a shell has opened has another name. */
static bool is_waited_for(const char *path) {
    struct stat st;
    return !is_standard_input(path) && !safe_is_descriptor(path) && stat(path, &st) == 0 &&
           S_ISFIFO(st.st_mode);
}

bool inputs_read_file(const char *path, Buf *out, Error *err) {
    if (is_waited_for(path)) {
        return error_set(err, ERR_USAGE, "%s is a FIFO, and a regular file is expected.", path);
    }
    char *files[] = {(char *)path};
    Inputs *in = inputs_new(files, 1, (InputsOptions){.raw = true, .slurp = true});
    in->err = err;
    while (open_file(in) && !in->ended && out->len <= INPUTS_FILE_MAX) read_into(in, out);
    bool ok = !in->unreadable;
    if (ok && out->len > INPUTS_FILE_MAX) {
        ok = error_set(err, ERR_USAGE, "%s is larger than %d MB.", file_name(path),
                       INPUTS_FILE_MAX >> 20);
    }
    inputs_free(in);
    return ok;
}

bool inputs_read_documents(const char *command, const char *path, Json *array) {
    char *files[] = {(char *)path};
    Inputs *in = inputs_new(files, 1, (InputsOptions){.command = command});
    *array = all_documents(in);
    bool ok = !in->unreadable && !in->malformed;
    inputs_free(in);
    return ok;
}
