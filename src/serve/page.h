/* page.h - the page: the files that web/ builds and tools/embed puts into the program, and which of them answers what.
 *
 *     if (page_answer(x, path, len)) return;          for a GET beside /api that no other route has
 *
 * Each file of the page answers under its own path. Those under /assets/ have a hash of their content in their name: they are
 * kept by browsers for good. Everything else that a person may have in the address line (page_is_view()) is answered with
 * index.html, which asks again each time (ETag) and is small. Nothing of it is secret: whoever reaches the port gets it, and
 * signs in through it where a token is needed.
 *
 * Content-Security-Policy: what the page runs is in files of this server. No inline script, no eval, no other server, no
 * frames. Styles may be inline, since a component sets sizes and places of what it shows.
 *
 * A file is kept twice, as it is and with gzip, and goes out as whoever asks says (Accept-Encoding). A program that was built
 * without the page (-Dweb=disabled) has no files; then / says so.
 */
#ifndef PAWL_PAGE_H
#define PAWL_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct Exchange;

typedef struct PageFile {
    const char *path;         /* "/index.html", "/assets/main-3f9c.js" */
    const char *type;         /* Content-Type */
    const char *etag;         /* with its quotes */
    size_t at, len;           /* in page_bytes, as it is */
    size_t gzip_at, gzip_len; /* 0: it is not worth it */
} PageFile;

/* The table that the build made; the last has no path. */
extern const PageFile page_files[];
extern const unsigned char page_bytes[];

/* Answers the request when it asks for the page or a file of it, with 304 where whoever asks has it. False: it does not. */
bool page_answer(struct Exchange *x, const char *path, size_t len);

/* Whether a path, without its query, is one of the page's views: "/", "/runs/7", "/debug/friday". */
bool page_is_view(const char *path, size_t len);

/* Whether whoever sends this takes gzip: "br, gzip;q=0.8" does, "gzip;q=0" and NULL do not. */
bool page_takes_gzip(const char *accept_encoding);

#endif
