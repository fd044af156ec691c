/* json_binary.h - the stable binary form of a value, for the journal.
 *
 * Compact, self-delimiting, byte-for-byte the same on every machine and in every version that reads
 * the same format number. Numbers keep their exact form (integer, double bits, literal text). The
 * reader checks everything: lengths, depth, UTF-8, kinds; damaged bytes are an error, never a
 * crash. The layout is described at the top of json_binary.c. Not recursive.
 */
#ifndef PAWL_JSON_BINARY_H
#define PAWL_JSON_BINARY_H

#include "error.h"
#include "json.h"

void json_encode(Json j, Buf *out); /* appends */

/* Reads one value that starts at data; *used says how many bytes it took. JSON_NONE on error. */
Json json_decode(const void *data, size_t len, size_t *used, Error *err);
/* The same for bytes from outside: a value of more than max bytes, as json_size() counts, is an ERR_LIMIT. A
 * byte can stand for an empty array or object, so a value may take some sixty times what its bytes do; no more
 * than a small multiple of max is allocated before it is refused. */
Json json_decode_within(const void *data, size_t len, uint64_t max, size_t *used, Error *err);

#endif
