/* edge_agent_program.h - the text of edge_agent.py, made into C by tools/embed. */
#ifndef PAWL_EDGE_AGENT_PROGRAM_H
#define PAWL_EDGE_AGENT_PROGRAM_H

#include <stddef.h>

extern const char edge_agent_program[];
extern const size_t edge_agent_program_len;

#endif
