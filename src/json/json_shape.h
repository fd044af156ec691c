/* json_shape.h - what a JSON value must look like, as a short text, and whether one does.
 *
 *     {run: int(1..), thread: text, created: time, error?: ERROR, frames: [FRAME], mode: "a"|"b", state: any}
 *
 * One text serves as the check of a value at a boundary and, as JSON Schema, as its documentation.
 *
 *     int  number  bool  text  null  object  array      a value of that type
 *     int(1..)  int(..9)  int(0..100)                    an int within bounds, both included
 *     time                                               "2026-11-16T04:35:57.123Z", always in this form
 *     path                                               an array of texts and ints
 *     any                                                any value except null
 *     "word"                                             just this text
 *     dotted                                             a text of digits and dots: "1.12"
 *     [T]                                                an array of T
 *     [A, B, C?]  [A,]                                   an array of just these, in this order; `C` may be absent
 *     [A, B...]                                          an A, and then any number of B
 *     {key: T, other?: T}                                an object; `other` may be absent; no other keys
 *     {key: T, ...}                                      any other keys too
 *     {key: T, *: T}                                     other keys too, each of them a T
 *     A|B                                                one of both
 *     NAME                                               a shape of the caller's table; it may contain itself
 *
 * Keys that are not words ("a-b") are in quotes. null fits nothing but `null`: nothing is null unless a
 * shape says so. White space, line breaks included, is free. An int is a number without a fraction that
 * 64 bits hold, however it is written.
 *
 * A shape is compiled once and never changes: any number of checks may use it, in any thread. A check
 * goes SHAPE_DEPTH_MAX levels down and no further (`any`, `object` and `array` are not gone into), and its
 * work is bounded by the value's size: a value from outside can neither exhaust the stack nor keep a
 * check busy.
 */
#ifndef PAWL_JSON_SHAPE_H
#define PAWL_JSON_SHAPE_H

#include "error.h"
#include "json.h"

enum {
    SHAPE_DEPTH_MAX = 500,     /* levels that a check goes down; alternatives are one each */
    SHAPE_TEXT_DEPTH_MAX = 32, /* brackets within brackets in one text */
    SHAPE_NAMES_MAX = 256,
};

/* A row of the caller's table of named shapes, which ends with a row whose name is NULL. A name is
 * written in capitals, digits and underscores, and begins with a capital. */
typedef struct ShapeName {
    const char *name, *text;
} ShapeName;

typedef struct Shape Shape;

/* NULL where the text, or a named shape that it uses, is none; the error's place is in that text.
 * names may be NULL and need not outlive the call. */
Shape *shape_compile(const char *text, const ShapeName *names, Error *err);
void shape_free(Shape *shape); /* accepts NULL */

/* Whether the value has the shape. The sentence begins with the path to what has not:
 *
 *     .frames[2].line: this is a text, and an int is expected
 *     .frames[2]: there is no key `lien`; did you mean `line`?
 *     .limits: the key `steps` is missing
 *
 * ERR_DATA, or ERR_LIMIT where the value is too deep, or too large to decide. Of several shapes with
 * `|`, the sentence is about the one that is meant: the only one of this type, or the only one whose
 * words in quotes are where the value has them. */
bool shape_check(const Shape *shape, Json value, Error *err);

/* As JSON Schema, draft 2020-12; the named shapes that are used are in $defs. */
Json shape_schema(const Shape *shape);

#endif
