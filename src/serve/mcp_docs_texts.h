/* mcp_docs_texts.h - the documents of docs/ that assistants read, made into C by tools/embed. */
#ifndef PAWL_MCP_DOCS_TEXTS_H
#define PAWL_MCP_DOCS_TEXTS_H

#include <stddef.h>

/* X(name of the page, name of the array). A page stands in meson.build (docs), too. */
#define MCP_DOCS(X)                 \
    X("workflows", workflows)       \
    X("running", running)           \
    X("debugging", debugging)       \
    X("expressions", expressions)   \
    X("scripts", scripts)           \
    X("http", http)                 \
    X("actions", actions)           \
    X("kinds", kinds)               \
    X("secrets", secrets)           \
    X("trust", trust)               \
    X("system-tests", system_tests) \
    X("pipelines", pipelines)       \
    X("edge-agent", edge_agent)     \
    X("remote", remote)             \
    X("assistants", assistants)

#define DECLARE(page, name)                      \
    extern const unsigned char mcp_doc_##name[]; \
    extern const size_t mcp_doc_##name##_len;
MCP_DOCS(DECLARE)
#undef DECLARE

#endif
