/* documents.h - JSON text of any size, the same in every run.
 *
 * Each writer appends one document of about `bytes` bytes to out.
 */
#ifndef PAWL_BENCH_DOCUMENTS_H
#define PAWL_BENCH_DOCUMENTS_H

#include "buf.h"

void document_records(Buf *out, size_t bytes); /* an array of small objects, on one line */
void document_by_name(Buf *out, size_t bytes); /* the same objects in an object, by name */
void document_pretty(Buf *out, size_t bytes);  /* an array of small objects, laid out for people */
void document_numbers(Buf *out, size_t bytes); /* rows of integers and decimals */
void document_strings(Buf *out, size_t bytes); /* sentences, with escapes and accents */

/* An object of n keys ("key-1" to "key-n") and numbers; an array of n numbers. */
void document_keys(Buf *out, size_t n);
void document_array(Buf *out, size_t n);

#endif
