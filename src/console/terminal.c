#define _GNU_SOURCE /* wcwidth */

#include "terminal.h"

#include "utf8.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

bool terminal_is(FILE *stream) {
    static int known[2] = {-1, -1}; /* there may be millions of values to write */
    int fd = fileno(stream);
    if (fd != STDOUT_FILENO && fd != STDERR_FILENO) return isatty(fd);
    int *is = &known[fd == STDERR_FILENO];
    *is = *is < 0 ? isatty(fd) : *is;
    return *is;
}

/* ---- what came from outside ---- */

/* From a first character to a last that differ in their last byte alone. */
static const char *const controls[][2] = {
    {"\xC2\x80", "\xC2\x9F"}, /* the second set of control characters */
    {"\xD8\x9C", "\xD8\x9C"}, /* marks and brackets of the order of writing */
    {"\xE2\x80\x8E", "\xE2\x80\x8F"},
    {"\xE2\x80\xAA", "\xE2\x80\xAE"},
    {"\xE2\x81\xA6", "\xE2\x81\xA9"},
    {"\xF3\xA0\x80\x80", "\xF3\xA0\x80\xBF"}, /* tags, which nobody sees */
    {"\xF3\xA0\x81\x80", "\xF3\xA0\x81\xBF"},
};

size_t terminal_control(const char *text) {
    unsigned char byte = (unsigned char)*text;
    if (byte < 0x80) return (byte < 0x20 && byte != '\t') || byte == 0x7F;
    for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
        const char *first = controls[i][0];
        size_t n = strlen(first) - 1;
        unsigned char last = strncmp(text, first, n) ? 0 : (unsigned char)text[n];
        if (last >= (unsigned char)first[n] && last <= (unsigned char)controls[i][1][n])
            return n + 1;
    }
    return 0;
}

static void add_safe(const char *text, size_t len, bool lines, Buf *out) {
    for (size_t i = 0, control; i < len; i += control ? control : 1) {
        control = lines && text[i] == '\n' ? 0 : terminal_control(text + i);
        buf_addc(out, !control ? text[i] : text[i] == '\n' || text[i] == '\r' ? ' ' : '?');
    }
}

void terminal_safe(const char *text, size_t len, Buf *out) {
    add_safe(text, len, false, out);
}

bool terminal_put(FILE *stream, const char *text, size_t len) {
    if (!len) return true;
    if (!terminal_is(stream)) return fwrite(text, 1, len, stream) == len;
    Buf out = BUF_INIT;
    add_safe(text, len, true, &out);
    bool ok = fwrite(out.data, 1, out.len, stream) == out.len;
    buf_clear(&out);
    return ok;
}

void terminal_say(FILE *stream, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    terminal_vsay(stream, fmt, args);
    va_end(args);
}

void terminal_vsay(FILE *stream, const char *fmt, va_list args) {
    Buf text = BUF_INIT;
    buf_vprintf(&text, fmt, args);
    terminal_put(stream, text.data ? text.data : "", text.len);
    buf_clear(&text);
}

void terminal_line(FILE *stream, const char *fmt, ...) {
    Buf text = BUF_INIT, out = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    terminal_safe(text.data, text.len, &out);
    buf_addc(&out, '\n');
    fwrite(out.data, 1, out.len, stream);
    buf_clear(&text);
    buf_clear(&out);
}

/* ---- what it can do ---- */

bool terminal_can_redraw(FILE *stream) {
    const char *term = getenv("TERM");
    return terminal_is(stream) && term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_has_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    return !(no_colour && no_colour[0] != '\0') && terminal_can_redraw(stream);
}

int terminal_columns(FILE *stream) {
    struct winsize size;
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) return 80;
    return size.ws_col ? size.ws_col : 80;
}

int terminal_width(FILE *stream) {
    int columns = terminal_columns(stream);
    return columns < 60 ? 60 : columns > 100 ? 100 : columns;
}

/* The C library knows how wide characters are, but only in a locale that has them. */
static locale_t utf8_locale(void) {
    static locale_t locale;
    if (!locale) locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    return locale ? locale : LC_GLOBAL_LOCALE;
}

static size_t columns_of(int32_t cp) {
    int width = cp < 0 ? 1 : wcwidth((wchar_t)cp);
    return width > 0 ? (size_t)width : 0;
}

size_t terminal_text_columns(const char *text, size_t len) {
    locale_t before = uselocale(utf8_locale());
    size_t columns = 0;
    int32_t cp;
    for (const char *end = text + len; text < end; columns += columns_of(cp)) {
        text += utf8_decode(text, end, &cp);
    }
    uselocale(before);
    return columns;
}

void terminal_wrap(const char *text, int margin, int width, Buf *out) {
    int column = margin;
    for (size_t n; (n = strcspn(text, " \n")); text += n + strspn(text + n, " ")) {
        int shown = (int)terminal_text_columns(text, n);
        if (column > margin && column + 1 + shown > width) {
            buf_printf(out, "\n%*s", margin, "");
            column = margin;
        }
        buf_adds(out, column > margin ? " " : "");
        buf_add(out, text, n);
        column += shown + (column > margin);
    }
    buf_addc(out, '\n');
}

void terminal_put_wrapped(FILE *stream, const char *text, int margin) {
    Buf lines = BUF_INIT;
    terminal_wrap(text, margin, terminal_width(stream), &lines);
    fputs(lines.data, stream);
    buf_clear(&lines);
}

void terminal_heading(FILE *stream, const char *text) {
    bool colour = terminal_has_colour(stream);
    fprintf(stream, "%s%s%s\n", colour ? "\x1b[1m" : "", text, colour ? "\x1b[0m" : "");
}
