#include "hidden.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

/* Nothing of what is typed is shown. */
static bool read_hidden(const char *prompt, size_t max, Buf *value) {
    struct termios before, hidden;
    bool known = tcgetattr(STDIN_FILENO, &before) == 0;
    hidden = before;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    fputs(prompt, stderr);
    fflush(stderr);
    if (known) tcsetattr(STDIN_FILENO, TCSAFLUSH, &hidden);
    char c;
    ssize_t n;
    while (((n = read(STDIN_FILENO, &c, 1)) == 1 || (n < 0 && errno == EINTR)) &&
           value->len <= max) {
        if (n == 1) buf_addc(value, c);
        if (n == 1 && c == '\n') break;
    }
    if (known) tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
    fputc('\n', stderr);
    return true;
}

static bool read_piped(const char *what, size_t max, Buf *value, Error *err) {
    for (;;) {
        char *at = buf_reserve(value, 4096);
        ssize_t n = read(STDIN_FILENO, at, 4096);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) {
            return error_set(err, ERR_IO, "Standard input cannot be read: %s.", strerror(errno));
        }
        if (n == 0) return true;
        buf_advance(value, (size_t)n);
        if (value->len > max + 2) {
            return error_set(err, ERR_USAGE, "%s has at most %zu KB.", what, max >> 10);
        }
    }
}

bool hidden_read(const char *prompt, const char *what, size_t max, Buf *value, Error *err) {
    return isatty(STDIN_FILENO) ? read_hidden(prompt, max, value)
                                : read_piped(what, max, value, err);
}

void hidden_clear(Buf *value) {
    if (value->data) explicit_bzero(value->data, value->cap);
    buf_clear(value);
}
