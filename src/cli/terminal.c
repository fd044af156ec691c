#include "terminal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool terminal_has_colour(FILE *stream) {
    const char *no_colour = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    if (no_colour && no_colour[0] != '\0') {
        return false;
    }
    return isatty(fileno(stream)) && term && strcmp(term, "dumb") != 0;
}

int terminal_width(FILE *stream) {
    struct winsize size;
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size) != 0) {
        return 80;
    }
    return size.ws_col < 60 ? 60 : size.ws_col > 100 ? 100 : size.ws_col;
}
