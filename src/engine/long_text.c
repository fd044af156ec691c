#include "long_text.h"

#include "json_print.h"
#include "mem.h"
#include "unnamed_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 128 << 10 };

struct LongText {
    LongText *next;
    const Expr *expr;
    Json value;
    JsonPrinting *printing; /* of what is no string */
    Buf piece;
    int file;
    size_t len;
    bool whole;
};

LongText *long_text_find(LongText *all, const Expr *expr) {
    while (all && all->expr != expr) all = all->next;
    return all;
}

static bool no_file(Error *err) {
    return error_set(err, ERR_IO, "The text cannot be kept in a file for the command: %s.",
                     strerror(errno));
}

LongText *long_text_add(LongText **all, const Expr *expr, Json value, const char *folder,
                        Error *err) {
    int file = unnamed_file_new("pawl-text", folder);
    if (file < 0) {
        no_file(err);
        json_unref(value);
        return NULL;
    }
    LongText *text = mem_zalloc(sizeof *text);
    *text = (LongText){.next = *all, .expr = expr, .value = value, .piece = BUF_INIT, .file = file};
    if (json_kind(value) != JSON_STRING) {
        text->printing = json_printing_new(value, NULL, &text->piece);
    }
    return *all = text;
}

bool long_text_write(LongText *text, Error *err) {
    const char *bytes;
    size_t n;
    if (text->printing) {
        buf_reset(&text->piece);
        text->whole = json_printing_more(text->printing, PIECE);
        bytes = text->piece.data;
        n = text->piece.len;
    } else {
        bytes = json_string_data(&text->value) + text->len;
        n = json_string_len(text->value) - text->len;
        text->whole = n <= PIECE;
        n = text->whole ? n : PIECE;
    }
    if (!unnamed_file_add(text->file, bytes, n)) return no_file(err);
    text->len += n;
    return true;
}

bool long_text_is_whole(const LongText *text) {
    return text->whole;
}

int long_text_file(const LongText *text, size_t *len, Error *err) {
    int file = fcntl(text->file, F_DUPFD_CLOEXEC, 0);
    if (file < 0) no_file(err);
    *len = text->len;
    return file;
}

void long_texts_free(LongText *all) {
    while (all) {
        LongText *next = all->next;
        if (all->printing) json_printing_free(all->printing);
        buf_clear(&all->piece);
        json_unref(all->value);
        close(all->file);
        mem_free(all);
        all = next;
    }
}
