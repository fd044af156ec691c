/* A pattern is first read into items (what a single item matches is a set of bytes, whatever it was
 * written as), then matched by going back over the choices. The C stack grows with the choices that
 * are open at once, one for each repetition and capture of the pattern, and that is bounded. */
#define _GNU_SOURCE
#include "lua_pattern.h"

#include "lua_meter.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum {
    CAPTURES_MAX = 32,
    OPEN_MAX = 200,    /* choices open at once */
    CHARGE_AT = 10000, /* steps between two looks at the meter */
};

typedef enum ItemKind {
    ITEM_ONE,  /* one byte of a set */
    ITEM_ANY,  /* a*: as many as can be */
    ITEM_MANY, /* a+ */
    ITEM_FEW,  /* a-: as few as can be */
    ITEM_MAYBE,
    ITEM_OPEN,     /* ( */
    ITEM_CLOSE,    /* ) */
    ITEM_PLACE,    /* () */
    ITEM_SAME,     /* %1 */
    ITEM_BALANCED, /* %bxy */
    ITEM_FRONTIER, /* %f[set] */
    ITEM_AT_END,   /* $ */
} ItemKind;

typedef struct Set {
    uint64_t bits[4];
} Set;

typedef struct Item {
    ItemKind kind;
    int capture;           /* OPEN, CLOSE, PLACE, SAME */
    unsigned char ends[2]; /* BALANCED */
    Set set;               /* the others */
} Item;

typedef struct Pattern {
    bool anchored;
    int ncaptures;
    size_t nitems;
    Item items[];
} Pattern;

/* ---- sets ---- */

static void set_add(Set *set, unsigned char c) {
    set->bits[c >> 6] |= 1ULL << (c & 63);
}

static bool set_has(const Set *set, unsigned char c) {
    return set->bits[c >> 6] >> (c & 63) & 1;
}

static void set_invert(Set *set) {
    for (int i = 0; i < 4; i++) set->bits[i] = ~set->bits[i];
}

static const struct {
    char letter;
    int (*has)(int c);
} classes[] = {
    {'a', isalpha}, {'c', iscntrl}, {'d', isdigit}, {'g', isgraph}, {'l', islower},
    {'p', ispunct}, {'s', isspace}, {'u', isupper}, {'w', isalnum}, {'x', isxdigit},
};

/* What %c stands for: a class, the opposite of one, or the character itself. */
static void set_add_escaped(Set *set, unsigned char letter) {
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i].letter != tolower(letter)) continue;
        for (int c = 0; c < 256; c++) {
            if ((classes[i].has(c) != 0) == (islower(letter) != 0)) set_add(set, (unsigned char)c);
        }
        return;
    }
    set_add(set, letter);
}

/* ---- reading a pattern ---- */

typedef struct Reader {
    lua_State *L;
    const char *p, *end;
    Pattern *pattern;
    int open[CAPTURES_MAX], nopen;
    bool closed[CAPTURES_MAX];
} Reader;

static unsigned char read_escaped(Reader *r) {
    if (r->p == r->end) luaL_error(r->L, "malformed pattern (ends with '%%')");
    return (unsigned char)*r->p++;
}

/* After the '[' of a set. */
static void read_set(Reader *r, Set *set) {
    bool invert = r->p < r->end && *r->p == '^';
    if (invert) r->p++;
    for (bool first = true; first || r->p == r->end || *r->p != ']'; first = false) {
        if (r->p == r->end) luaL_error(r->L, "malformed pattern (missing ']')");
        unsigned char c = (unsigned char)*r->p++;
        if (c == '%') {
            set_add_escaped(set, read_escaped(r));
        } else if (r->end - r->p >= 2 && r->p[0] == '-' && r->p[1] != ']') {
            for (int x = c, last = (unsigned char)r->p[1]; x <= last; x++) {
                set_add(set, (unsigned char)x);
            }
            r->p += 2;
        } else {
            set_add(set, c);
        }
    }
    r->p++;
    if (invert) set_invert(set);
}

static Item *add_item(Reader *r, ItemKind kind) {
    Item *item = &r->pattern->items[r->pattern->nitems++];
    memset(item, 0, sizeof *item);
    item->kind = kind;
    return item;
}

static void read_quantifier(Reader *r, Item *item) {
    static const char marks[] = "*+-?";
    static const ItemKind kinds[] = {ITEM_ANY, ITEM_MANY, ITEM_FEW, ITEM_MAYBE};
    const char *mark = r->p < r->end ? memchr(marks, *r->p, sizeof marks - 1) : NULL;
    if (mark) {
        item->kind = kinds[mark - marks];
        r->p++;
    }
}

static void read_open(Reader *r) {
    bool place = r->p < r->end && *r->p == ')';
    if (r->pattern->ncaptures == CAPTURES_MAX) luaL_error(r->L, "too many captures");
    int capture = r->pattern->ncaptures++;
    add_item(r, place ? ITEM_PLACE : ITEM_OPEN)->capture = capture;
    if (place) {
        r->p++;
        r->closed[capture] = true;
    } else {
        r->open[r->nopen++] = capture;
    }
}

static void read_percent(Reader *r) {
    unsigned char c = read_escaped(r);
    if (c == 'b') {
        if (r->end - r->p < 2) luaL_error(r->L, "malformed pattern (missing arguments to '%%b')");
        memcpy(add_item(r, ITEM_BALANCED)->ends, r->p, 2);
        r->p += 2;
    } else if (c == 'f') {
        if (r->p == r->end || *r->p != '[') luaL_error(r->L, "missing '[' after '%%f' in pattern");
        r->p++;
        read_set(r, &add_item(r, ITEM_FRONTIER)->set);
    } else if (isdigit(c)) {
        int capture = c - '1';
        if (capture < 0 || capture >= r->pattern->ncaptures || !r->closed[capture]) {
            luaL_error(r->L, "invalid capture index %%%c", c);
        }
        add_item(r, ITEM_SAME)->capture = capture;
    } else {
        Item *item = add_item(r, ITEM_ONE);
        set_add_escaped(&item->set, c);
        read_quantifier(r, item);
    }
}

static void read_item(Reader *r) {
    unsigned char c = (unsigned char)*r->p++;
    if (c == '(') {
        read_open(r);
    } else if (c == ')') {
        if (r->nopen == 0) luaL_error(r->L, "invalid pattern capture");
        int capture = r->open[--r->nopen];
        r->closed[capture] = true;
        add_item(r, ITEM_CLOSE)->capture = capture;
    } else if (c == '%') {
        read_percent(r);
    } else if (c == '$' && r->p == r->end) {
        add_item(r, ITEM_AT_END);
    } else {
        Item *item = add_item(r, ITEM_ONE);
        if (c == '[') {
            read_set(r, &item->set);
        } else if (c == '.') {
            set_invert(&item->set);
        } else {
            set_add(&item->set, c);
        }
        read_quantifier(r, item);
    }
}

/* Pushes a userdata with the pattern in it. */
static Pattern *read_pattern(lua_State *L, const char *p, size_t len, bool anchors) {
    lua_meter_charge(L, 1 + len);
    Reader r = {.L = L, .p = p, .end = p + len};
    r.pattern = lua_newuserdatauv(L, sizeof *r.pattern + (len + 1) * sizeof(Item), 0);
    *r.pattern = (Pattern){.anchored = anchors && len && *p == '^'};
    if (r.pattern->anchored) r.p++;
    while (r.p < r.end) read_item(&r);
    if (r.nopen) luaL_error(L, "unfinished capture");
    return r.pattern;
}

/* ---- matching ---- */

typedef struct Capture {
    const char *from, *to; /* to is NULL for a place */
} Capture;

typedef struct Matcher {
    lua_State *L;
    const Pattern *pattern;
    const char *text, *end;
    Capture captures[CAPTURES_MAX];
    int open;
    unsigned steps;
} Matcher;

static const char *match_from(Matcher *m, const char *s, size_t i);

static void charge(Matcher *m, size_t steps) {
    m->steps += (unsigned)steps;
    if (m->steps >= CHARGE_AT) {
        lua_meter_charge(m->L, m->steps);
        m->steps = 0;
    }
}

static bool single(const Matcher *m, const char *s, const Item *item) {
    return s < m->end && set_has(&item->set, (unsigned char)*s);
}

/* The rest of the pattern, as a choice that may turn out wrong. */
static const char *try_rest(Matcher *m, const char *s, size_t i) {
    if (++m->open > OPEN_MAX) luaL_error(m->L, "pattern too complex");
    const char *end = match_from(m, s, i);
    m->open--;
    return end;
}

static const char *most_first(Matcher *m, const char *s, size_t i, size_t least) {
    const Item *item = &m->pattern->items[i];
    const char *last = s;
    while (single(m, last, item)) {
        last++;
        if (((last - s) & 0xFFF) == 0) charge(m, 0x1000);
    }
    charge(m, (size_t)(last - s) & 0xFFF);
    for (; last >= s + least; last--) {
        const char *end = try_rest(m, last, i + 1);
        if (end) return end;
        charge(m, 1);
        if (last == s) break;
    }
    return NULL;
}

static const char *fewest_first(Matcher *m, const char *s, size_t i) {
    const Item *item = &m->pattern->items[i];
    for (;; s++) {
        const char *end = try_rest(m, s, i + 1);
        if (end || !single(m, s, item)) return end;
        charge(m, 1);
    }
}

static const char *with_capture(Matcher *m, const char *s, size_t i) {
    const Item *item = &m->pattern->items[i];
    Capture *capture = &m->captures[item->capture], before = *capture;
    if (item->kind == ITEM_CLOSE) {
        capture->to = s;
    } else {
        *capture = (Capture){s, NULL};
    }
    const char *end = try_rest(m, s, i + 1);
    if (!end) *capture = before;
    return end;
}

static const char *balanced(Matcher *m, const char *s, const Item *item) {
    if (s == m->end || (unsigned char)*s != item->ends[0]) return NULL;
    size_t deep = 1;
    for (const char *at = s + 1; at < m->end; at++) {
        if ((unsigned char)*at == item->ends[1]) {
            if (--deep == 0) return at + 1;
        } else if ((unsigned char)*at == item->ends[0]) {
            deep++;
        }
        charge(m, 1);
    }
    return NULL;
}

/* A place is no text, and nothing is the same as it. */
static const char *same(Matcher *m, const char *s, const Item *item) {
    const Capture *capture = &m->captures[item->capture];
    if (!capture->to) return NULL;
    size_t len = (size_t)(capture->to - capture->from);
    charge(m, 1 + len / 64);
    return (size_t)(m->end - s) >= len && memcmp(s, capture->from, len) == 0 ? s + len : NULL;
}

/* Where the match of the items from i on ends; NULL when there is none. */
static const char *match_from(Matcher *m, const char *s, size_t i) {
    for (; s && i < m->pattern->nitems; i++) {
        const Item *item = &m->pattern->items[i];
        charge(m, 1);
        switch (item->kind) {
        case ITEM_ONE: s = single(m, s, item) ? s + 1 : NULL; break;
        case ITEM_ANY: return most_first(m, s, i, 0);
        case ITEM_MANY: return most_first(m, s, i, 1);
        case ITEM_FEW: return fewest_first(m, s, i);
        case ITEM_MAYBE:
            if (single(m, s, item)) {
                const char *end = try_rest(m, s + 1, i + 1);
                if (end) return end;
            }
            break;
        case ITEM_OPEN:
        case ITEM_CLOSE:
        case ITEM_PLACE: return with_capture(m, s, i);
        case ITEM_SAME: s = same(m, s, item); break;
        case ITEM_BALANCED: s = balanced(m, s, item); break;
        case ITEM_FRONTIER:
            if (set_has(&item->set, s == m->text ? 0 : (unsigned char)s[-1]) ||
                !set_has(&item->set, s == m->end ? 0 : (unsigned char)*s)) {
                return NULL;
            }
            break;
        case ITEM_AT_END: s = s == m->end ? s : NULL; break;
        }
    }
    return s;
}

/* The first match at or after *s; *s is then where it starts. */
static const char *search(Matcher *m, const char **s) {
    for (;; ++*s) {
        m->open = 0;
        const char *end = match_from(m, *s, 0);
        if (end || m->pattern->anchored || *s == m->end) return end;
    }
}

/* ---- what Lua sees ---- */

static void push_capture(const Matcher *m, int i) {
    const Capture *capture = &m->captures[i];
    if (capture->to) {
        lua_pushlstring(m->L, capture->from, (size_t)(capture->to - capture->from));
    } else {
        lua_pushinteger(m->L, capture->from - m->text + 1);
    }
}

/* All captures; the whole match when there are none and `whole` says so. */
static int push_captures(const Matcher *m, const char *from, const char *to, bool whole) {
    int n = m->pattern->ncaptures;
    luaL_checkstack(m->L, n + 1, "too many captures");
    for (int i = 0; i < n; i++) push_capture(m, i);
    if (n == 0 && whole) lua_pushlstring(m->L, from, (size_t)(to - from));
    return n == 0 && whole ? 1 : n;
}

/* The argument `init`, as an offset; past the end it is len + 1. */
static size_t start_offset(lua_State *L, int index, size_t len) {
    lua_Integer init = luaL_optinteger(L, index, 1);
    if (init > 0) return (size_t)init - 1 <= len ? (size_t)init - 1 : len + 1;
    if (init == 0 || init < -(lua_Integer)len) return 0;
    return len - (size_t)-init;
}

static int find_or_match(lua_State *L, bool find) {
    size_t len, plen;
    const char *text = luaL_checklstring(L, 1, &len), *p = luaL_checklstring(L, 2, &plen);
    size_t start = start_offset(L, 3, len);
    if (start > len) {
        lua_pushnil(L);
        return 1;
    }
    size_t special = 0; /* the first character that is more than itself */
    while (special < plen && !(p[special] && strchr("^$*+?.([%-", p[special]))) special++;
    if (find && (lua_toboolean(L, 4) || special == plen)) {
        lua_meter_charge(L, 1 + (len - start) / 64);
        const char *at = plen ? memmem(text + start, len - start, p, plen) : text + start;
        if (!at) {
            lua_pushnil(L);
            return 1;
        }
        lua_pushinteger(L, at - text + 1);
        lua_pushinteger(L, at - text + (lua_Integer)plen);
        return 2;
    }
    Matcher m = {.L = L, .text = text, .end = text + len};
    m.pattern = read_pattern(L, p, plen, true);
    const char *from = text + start, *to = search(&m, &from);
    if (!to) {
        lua_pushnil(L);
        return 1;
    }
    if (!find) return push_captures(&m, from, to, true);
    lua_pushinteger(L, from - text + 1);
    lua_pushinteger(L, to - text);
    return 2 + push_captures(&m, from, to, false);
}

static int pattern_find(lua_State *L) {
    return find_or_match(L, true);
}

static int pattern_match(lua_State *L) {
    return find_or_match(L, false);
}

/* Upvalues: the text, the pattern, where to go on, where the last match ended (-1: none was). */
static int next_match(lua_State *L) {
    size_t len;
    const char *text = lua_tolstring(L, lua_upvalueindex(1), &len);
    Matcher m = {.L = L, .text = text, .end = text + len};
    m.pattern = lua_touserdata(L, lua_upvalueindex(2));
    lua_Integer go_on = lua_tointeger(L, lua_upvalueindex(3));
    lua_Integer last = lua_tointeger(L, lua_upvalueindex(4));
    while (go_on <= (lua_Integer)len) {
        const char *from = text + go_on, *to = search(&m, &from);
        if (!to) break;
        if (to - text == last) { /* empty, where the last one ended */
            go_on = from - text + 1;
            continue;
        }
        lua_pushinteger(L, to - text);
        lua_copy(L, -1, lua_upvalueindex(3));
        lua_replace(L, lua_upvalueindex(4));
        return push_captures(&m, from, to, true);
    }
    lua_pushinteger(L, (lua_Integer)len + 1);
    lua_replace(L, lua_upvalueindex(3));
    return 0;
}

static int pattern_gmatch(lua_State *L) {
    size_t len, plen;
    luaL_checklstring(L, 1, &len);
    const char *p = luaL_checklstring(L, 2, &plen);
    size_t start = start_offset(L, 3, len);
    lua_settop(L, 2);
    lua_pushvalue(L, 1);
    read_pattern(L, p, plen, false);
    lua_pushinteger(L, (lua_Integer)start);
    lua_pushinteger(L, -1);
    lua_pushcclosure(L, next_match, 4);
    return 1;
}

/* ---- gsub ---- */

/* %1 in a replacement: as text. */
static void add_capture(const Matcher *m, luaL_Buffer *out, unsigned char digit, const char *from,
                        const char *to) {
    int i = digit - '1';
    if (digit == '0' || (i == 0 && m->pattern->ncaptures == 0)) {
        luaL_addlstring(out, from, (size_t)(to - from));
        return;
    }
    if (i >= m->pattern->ncaptures) {
        luaL_error(m->L, "invalid capture index %%%d in replacement string", i + 1);
    }
    push_capture(m, i);
    luaL_tolstring(m->L, -1, NULL);
    lua_remove(m->L, -2);
    luaL_addvalue(out);
}

static void add_template(const Matcher *m, luaL_Buffer *out, const char *from, const char *to) {
    size_t len;
    const char *r = lua_tolstring(m->L, 3, &len), *end = r + len;
    while (r < end) {
        const char *percent = memchr(r, '%', (size_t)(end - r));
        luaL_addlstring(out, r, (size_t)((percent ? percent : end) - r));
        if (!percent) return;
        unsigned char c = percent + 1 < end ? (unsigned char)percent[1] : 0;
        if (c == '%') {
            luaL_addchar(out, '%');
        } else if (isdigit(c)) {
            add_capture(m, out, c, from, to);
        } else {
            luaL_error(m->L, "invalid use of '%%' in replacement string");
        }
        r = percent + 2;
    }
}

static void add_replacement(const Matcher *m, luaL_Buffer *out, const char *from, const char *to) {
    int type = lua_type(m->L, 3);
    if (type == LUA_TSTRING || type == LUA_TNUMBER) {
        add_template(m, out, from, to);
        return;
    }
    if (type == LUA_TFUNCTION) {
        lua_pushvalue(m->L, 3);
        lua_call(m->L, push_captures(m, from, to, true), 1);
    } else {
        if (m->pattern->ncaptures) {
            push_capture(m, 0);
        } else {
            lua_pushlstring(m->L, from, (size_t)(to - from));
        }
        lua_gettable(m->L, 3);
    }
    if (!lua_toboolean(m->L, -1)) {
        lua_pop(m->L, 1);
        luaL_addlstring(out, from, (size_t)(to - from));
    } else if (lua_isstring(m->L, -1)) {
        luaL_addvalue(out);
    } else {
        luaL_error(m->L, "invalid replacement value (a %s)", luaL_typename(m->L, -1));
    }
}

static lua_Integer replace_all(Matcher *m, luaL_Buffer *out, lua_Integer max) {
    const char *s = m->text, *last = NULL;
    lua_Integer n = 0;
    while (n < max) {
        const char *from = s, *to = search(m, &from);
        if (!to) break;
        luaL_addlstring(out, s, (size_t)(from - s));
        s = from;
        if (to != last) {
            n++;
            add_replacement(m, out, from, to);
            s = last = to;
        } else if (s < m->end) {
            luaL_addchar(out, *s++);
        } else {
            break;
        }
        if (m->pattern->anchored) break;
    }
    luaL_addlstring(out, s, (size_t)(m->end - s));
    return n;
}

static int pattern_gsub(lua_State *L) {
    size_t len, plen;
    const char *text = luaL_checklstring(L, 1, &len), *p = luaL_checklstring(L, 2, &plen);
    int type = lua_type(L, 3);
    luaL_argexpected(L,
                     type == LUA_TSTRING || type == LUA_TNUMBER || type == LUA_TTABLE ||
                         type == LUA_TFUNCTION || type == LUA_TUSERDATA,
                     3, "string/function/table");
    if (type == LUA_TNUMBER) lua_tostring(L, 3);
    lua_Integer max = luaL_optinteger(L, 4, (lua_Integer)len + 1);
    Matcher m = {.L = L, .text = text, .end = text + len};
    m.pattern = read_pattern(L, p, plen, true);
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    lua_Integer n = replace_all(&m, &out, max);
    luaL_pushresult(&out);
    lua_pushinteger(L, n);
    return 2;
}

const luaL_Reg lua_pattern_functions[] = {
    {"find", pattern_find},
    {"match", pattern_match},
    {"gmatch", pattern_gmatch},
    {"gsub", pattern_gsub},
    {NULL, NULL},
};
