#include "path.h"

#include <stdbool.h>
#include <string.h>

void path_tidy(char *path) {
    char *out = path, *floor = path;
    bool whole = path[0] == '/', empty = !*path;
    for (const char *p = path; *p;) {
        size_t len = strcspn(p, "/"), slashes = strspn(p + len, "/");
        bool up = len == 2 && p[0] == '.' && p[1] == '.';
        if (len == 0) { /* of the root */
            *out++ = '/';
            floor = out;
        } else if (up && out > floor) {
            for (out--; out > floor && out[-1] != '/'; out--) {}
        } else if (!(len == 1 && p[0] == '.') && !(up && whole)) {
            memmove(out, p, len);
            out += len;
            if (slashes) *out++ = '/';
            floor = up ? out : floor;
        }
        p += len + slashes;
    }
    if (out == path && !empty) *out++ = '.';
    *out = '\0';
}
