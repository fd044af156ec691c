#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
