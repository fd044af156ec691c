/* peer_jq.h - libjq, the peer of the benchmarks, behind names of our own.
 *
 * libjq's jq_compile and ours cannot be seen by one source file, so what calls libjq is a shared
 * library of its own, and this is its door: one function a call of libjq's, nothing kept, nothing
 * added. A value is passed as libjq passes it, in two machine words.
 */
#ifndef PAWL_PEER_JQ_H
#define PAWL_PEER_JQ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct PeerValue {
    uint64_t words[2];
} PeerValue;

/* One jq_state. */
typedef struct PeerProgram PeerProgram;

PeerProgram *peer_program_new(void);
void peer_program_free(PeerProgram *p);
bool peer_compile(PeerProgram *p, const char *text);   /* drops what was compiled before */
size_t peer_run(PeerProgram *p, PeerValue input);      /* borrows input; number of outputs */
PeerValue peer_first(PeerProgram *p, PeerValue input); /* borrows input; the first output */

PeerValue peer_ref(PeerValue v);
void peer_unref(PeerValue v);
bool peer_valid(PeerValue v);
PeerValue peer_parse(const char *text, size_t len);
PeerValue peer_print(PeerValue v, int indent);   /* borrows v; a string */
const char *peer_text(PeerValue s, size_t *len); /* of a string, borrowed */

PeerValue peer_string(const char *text);
PeerValue peer_object_get(PeerValue o, PeerValue key);           /* borrows both */
PeerValue peer_object_set(PeerValue o, PeerValue key, double v); /* consumes both */
PeerValue peer_array_push(PeerValue a, double v);                /* consumes a */

#endif
