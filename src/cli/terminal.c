#define _GNU_SOURCE /* wcwidth */

#include "terminal.h"

#include "utf8.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

bool terminal_can_redraw(FILE *stream) {
    const char *term = getenv("TERM");
    return isatty(fileno(stream)) && term && *term && strcmp(term, "dumb") != 0;
}

bool terminal_has_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    return !(no_colour && no_colour[0] != '\0') && terminal_can_redraw(stream);
}

int terminal_columns(FILE *stream) {
    struct winsize size;
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) {
        return 80;
    }
    return size.ws_col ? size.ws_col : 80;
}

int terminal_width(FILE *stream) {
    int columns = terminal_columns(stream);
    return columns < 60 ? 60 : columns > 100 ? 100 : columns;
}

/* The C library knows how wide characters are, but only in a locale that has them. */
static locale_t utf8_locale(void) {
    static locale_t locale;
    if (!locale) {
        locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    }
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
