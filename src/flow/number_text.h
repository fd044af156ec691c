/* number_text.h - doubles and big integers of tests, as texts.
 *
 * Queries compute with integers of any size and with doubles, and which of the two a number is matters where it leaves
 * the query: the value of a field is written without an exponent, a title has the shortest form, and an integer past
 * 64 bits that is kept is a text from then on. An integer is written with digits alone; 2.0 and 1e3 are doubles.
 */
#ifndef PAWL_NUMBER_TEXT_H
#define PAWL_NUMBER_TEXT_H

#include "buf.h"
#include "json.h"

bool number_is_double(Json value);

/* Without an exponent, with six decimals at most: 1.234568, 1000000000000000000000, 3. */
void add_decimal(double number, Buf *out);

/* The shortest that reads back, with an exponent from 10^6 on and below 10^-4: 1.234567e+06, 123456, 3. */
void add_shortest(double number, Buf *out);

/* The value with its integers past 64 bits as texts, at any depth. Consumes value. */
Json with_big_as_text(Json value);

#endif
