/* supervisor_program.h - the program of supervisor.c, made into bytes by tools/embed. */
#ifndef PAWL_SUPERVISOR_PROGRAM_H
#define PAWL_SUPERVISOR_PROGRAM_H

#include <stddef.h>

extern const unsigned char supervisor_program[];
extern const size_t supervisor_program_len;

#endif
