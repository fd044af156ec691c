#include "mcp_docs.h"

#include "ascii.h"
#include "buf.h"
#include "json_build.h"
#include "mcp_docs_texts.h"
#include "problems.h"
#include "suggest.h"

#include <string.h>

enum { WHOLE_MAX = 9000 }; /* bytes of a page that is given at once */

static const struct Page {
    const char *name;
    const unsigned char *text;
    const size_t *len;
} pages[] = {
#define ROW(page, name) {page, mcp_doc_##name, &mcp_doc_##name##_len},
    MCP_DOCS(ROW)
#undef ROW
};
enum { NPAGES = sizeof pages / sizeof *pages };

static const struct Page *find_page(const char *name) {
    for (size_t i = 0; i < NPAGES; i++) {
        if (!strcmp(pages[i].name, name)) return &pages[i];
    }
    return NULL;
}

const char *mcp_docs_page(const char *page, size_t *len) {
    const struct Page *p = find_page(page);
    if (p) *len = *p->len;
    return p ? (const char *)p->text : NULL;
}

/* ---- headings ---- */

/* A heading of a page, and where what is below it ends. */
typedef struct Heading {
    const char *line, *title; /* title: behind the marks */
    size_t len;               /* of the title */
    int level;
} Heading;

/* The next heading from `at` on; what stands between fences is none. */
static bool next_heading(const char **at, const char *end, bool *fenced, Heading *out) {
    while (*at < end) {
        const char *line = *at, *stop = memchr(line, '\n', (size_t)(end - line));
        size_t len = (size_t)((stop ? stop : end) - line), marks = 0;
        *at = stop ? stop + 1 : end;
        if (len >= 3 && !strncmp(line, "```", 3)) *fenced = !*fenced;
        while (marks < len && line[marks] == '#') marks++;
        if (*fenced || !marks || marks >= len || line[marks] != ' ') continue;
        *out = (Heading){
            .line = line, .title = line + marks + 1, .len = len - marks - 1, .level = (int)marks};
        return true;
    }
    return false;
}

static Json title_of(const struct Page *p) {
    const char *at = (const char *)p->text, *end = at + *p->len;
    Heading h;
    bool fenced = false;
    return next_heading(&at, end, &fenced, &h) ? json_string(h.title, h.len)
                                               : json_string_c(p->name);
}

/* Names of the headings below one, of the next level that there is; JSON_NONE: there are none. */
static Json headings_in(const char *at, const char *end, int below) {
    Json out = json_none();
    Heading h;
    bool fenced = false;
    while (next_heading(&at, end, &fenced, &h)) {
        if (h.level == below + 1) out = json_array_push(out, json_string(h.title, h.len));
    }
    return out;
}

/* ---- pages ---- */

Json mcp_docs_pages(void) {
    Json out = json_array();
    for (size_t i = 0; i < NPAGES; i++) {
        out = json_array_push(out,
                              OBJECT(KEY("page", pages[i].name), KEY("title", title_of(&pages[i])),
                                     KEY("bytes", (uint64_t)*pages[i].len)));
    }
    return out;
}

static Json no_page(const char *name, Error *err) {
    Suggestion s = suggestion_for(name, strlen(name));
    for (size_t i = 0; i < NPAGES; i++) suggestion_offer(&s, pages[i].name);
    error_set(err, ERR_NOT_FOUND, "There is no page `%s`%s Without a page they are listed.",
              shown(name, strlen(name)), did_you_mean_this(s.best));
    return json_none();
}

/* Where the first section begins. */
static const char *end_of_beginning(const char *at, const char *end) {
    Heading h;
    bool fenced = false;
    while (next_heading(&at, end, &fenced, &h)) {
        if (h.level > 1) return h.line;
    }
    return end;
}

static Json whole_page(const struct Page *p) {
    const char *text = (const char *)p->text, *end = text + *p->len;
    bool is_long = *p->len > WHOLE_MAX;
    const char *stop = is_long ? end_of_beginning(text, end) : end;
    return OBJECT(KEY("page", p->name), KEY("title", title_of(p)),
                  KEY("sections", is_long ? headings_in(text, end, 1) : json_none()),
                  KEY("text", json_string(text, (size_t)(stop - text))));
}

static bool begins_with(const Heading *h, const char *word, size_t len) {
    size_t i = 0;
    while (i < len && i < h->len && ascii_lower(h->title[i]) == ascii_lower(word[i])) i++;
    return i == len;
}

/* The first heading that is called so, or else begins so. */
static bool find_section(const struct Page *p, const char *word, Heading *out) {
    size_t len = strlen(word);
    for (int whole = 1; whole >= 0; whole--) {
        const char *at = (const char *)p->text, *end = at + *p->len;
        bool fenced = false;
        while (next_heading(&at, end, &fenced, out)) {
            if (begins_with(out, word, len) && (!whole || out->len == len)) return true;
        }
    }
    return false;
}

static Json one_section(const struct Page *p, const char *word, Error *err) {
    const char *text = (const char *)p->text, *end = text + *p->len, *at, *stop = end;
    Heading h, after;
    bool fenced = false;
    if (!word[0] || !find_section(p, word, &h)) {
        error_set(err, ERR_NOT_FOUND,
                  "The page `%s` has no section `%s`; without a section its sections are listed.",
                  p->name, shown(word, strlen(word)));
        return json_none();
    }
    for (at = h.title; next_heading(&at, end, &fenced, &after);) {
        if (after.level > h.level) continue;
        stop = after.line;
        break;
    }
    return OBJECT(KEY("page", p->name), KEY("section", json_string(h.title, h.len)),
                  KEY("sections", headings_in(h.title, stop, h.level)),
                  KEY("text", json_string(h.line, (size_t)(stop - h.line))));
}

Json mcp_docs_read(const char *page, const char *section, Error *err) {
    if (!page) return OBJECT(KEY("pages", mcp_docs_pages()));
    const struct Page *p = find_page(page);
    if (!p) return no_page(page, err);
    return section ? one_section(p, section, err) : whole_page(p);
}
