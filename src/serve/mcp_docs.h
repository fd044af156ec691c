/* mcp_docs.h - the documents that are in the program, page by page and section by section. Any thread. */
#ifndef PAWL_MCP_DOCS_H
#define PAWL_MCP_DOCS_H

#include "error.h"
#include "json.h"

/* [{page, title, bytes}], given. */
Json mcp_docs_pages(void);

/* The text of a page, not ended by a NUL; NULL: there is none of that name. */
const char *mcp_docs_page(const char *page, size_t *len);

/* What an assistant is shown: {pages}; of a page {page, title, text, sections?}; of a long page its beginning and the names of
 * its sections; {page, section, text, sections?} of a section, which may be named by the beginning of its heading. JSON_NONE with
 * a sentence: there is no such page or section. NULL: not said. */
Json mcp_docs_read(const char *page, const char *section, Error *err);

#endif
