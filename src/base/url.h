/* url.h - URLs as people may see them: without the user and the password.
 *
 * A URL that is shown may have a mistake in it, and the mistake may be in the password: `http://me:pa/ss@host` has none
 * by the rules, and a port that is no number. Where what follows the host's colon is no port, everything up to the last
 * @ counts as secret.
 */
#ifndef PAWL_URL_H
#define PAWL_URL_H

#include "buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether a text is a URL of http or https; of another scheme. A scheme is letters here, which may be capitals. */
bool url_is_web(const char *text);
bool url_is_other(const char *text);

/* Adds what a name means in a file that was fetched from such a URL: a URL as it is, a path from the root of its host,
 * or relative to its folder. */
void url_join(Buf *out, const char *base, const char *name);

/* How many bytes from *from on are user and password, with the @ behind; 0: it has none. */
size_t url_secret(const char *url, size_t len, size_t *from);

/* Adds a text, in which each URL has `***@` instead. */
void url_hide(Buf *out, const char *text, size_t len);

#endif
