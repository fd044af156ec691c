#include "lua_json.h"

#include "json_breath.h"
#include "json_print.h"
#include "lua_meter.h"
#include "mem.h"

#include <inttypes.h>
#include <lauxlib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TABLE_BYTES = 64,       /* what an array or an object takes besides what is in it */
    COMPARE_WORK = 1000000, /* of one == */
};

/* ---- views ---- */

/* A view has no finalizer: Lua runs a few of them at a time, and code that only reads would fill its memory with
 * views that wait for theirs. It borrows its value from what is held for the step (lua_json_hold()). */
typedef struct LuaView {
    Json value;
    uint64_t step; /* as views->step was */
} LuaView;

static const char view_name[] = "pawl.view", marked_name[] = "pawl.array";
static const char views_key; /* its address is the registry's key for LuaViews */

static LuaViews *views_of(lua_State *L) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &views_key);
    LuaViews *views = lua_touserdata(L, -1);
    lua_pop(L, 1);
    return views;
}

static void push_view(lua_State *L, Json value) {
    LuaView *view = lua_newuserdatauv(L, sizeof *view, 0);
    *view = (LuaView){value, views_of(L)->step};
    luaL_setmetatable(L, view_name);
}

void lua_json_hold(LuaViews *views, Json value) {
    if (json_is_none(views->held)) views->held = json_array();
    views->held = json_array_push(views->held, json_ref(value));
}

void lua_json_release(LuaViews *views) {
    json_clear(&views->held);
    views->step++;
    buf_clear(&views->text);
}

/* Nothing that a step has made can be reached from a later one; should that ever fail, it is nothing. */
static Json view_value(lua_State *L, int index) {
    const LuaView *view = lua_touserdata(L, index);
    return view->step == views_of(L)->step ? view->value : json_null();
}

bool lua_json_is_view(lua_State *L, int index) {
    return luaL_testudata(L, index, view_name) != NULL;
}

/* ---- what a view can do ---- */

static int view_index(lua_State *L) {
    Json value = view_value(L, 1), found = json_none();
    int whole;
    lua_Integer i = lua_tointegerx(L, 2, &whole);
    if (json_kind(value) == JSON_ARRAY && whole && i >= 1) {
        found = json_array_get(value, (size_t)i - 1);
    } else if (json_kind(value) == JSON_OBJECT && lua_type(L, 2) == LUA_TSTRING) {
        size_t len;
        const char *key = lua_tolstring(L, 2, &len);
        Json name = json_string(key, len);
        found = json_object_get(value, name);
        json_unref(name);
    }
    lua_json_push(L, found);
    return 1;
}

static int view_newindex(lua_State *L) {
    return luaL_error(L, "the state cannot be written; return what is to change, as in "
                         "return {count = state.count + 1}, or change a copy(...) of it");
}

static int view_len(lua_State *L) {
    Json value = view_value(L, 1);
    size_t len = json_kind(value) == JSON_ARRAY ? json_array_len(value) : json_object_len(value);
    lua_pushinteger(L, (lua_Integer)len);
    return 1;
}

static int view_eq(lua_State *L) {
    uint64_t work = COMPARE_WORK;
    bool same = false;
    if (lua_json_is_view(L, 1) && lua_json_is_view(L, 2) &&
        !json_equal_working(view_value(L, 1), view_value(L, 2), JSON_DEPTH_MAX, &work, &same)) {
        return luaL_error(L, "the values are too large to be compared");
    }
    lua_meter_charge(L, COMPARE_WORK - work);
    lua_pushboolean(L, same);
    return 1;
}

static int view_text(lua_State *L) {
    Buf *text = &views_of(L)->text;
    JsonPrintOptions options = {.max_bytes = LUA_JSON_TEXT_MAX};
    buf_reset(text);
    if (!json_print(view_value(L, 1), &options, text)) {
        return luaL_error(L, "a value of more than %d bytes cannot be made a text",
                          LUA_JSON_TEXT_MAX);
    }
    lua_pushlstring(L, text->data, text->len);
    return 1;
}

/* for i, v in the array at upvalue 1; upvalue 2 is the place. */
static int next_item(lua_State *L) {
    Json array = view_value(L, lua_upvalueindex(1));
    lua_Integer i = lua_tointeger(L, lua_upvalueindex(2));
    Json value = json_array_get(array, (size_t)i);
    if (json_is_none(value)) return 0;
    lua_pushinteger(L, i + 1);
    lua_copy(L, -1, lua_upvalueindex(2));
    lua_json_push(L, value);
    return 2;
}

static int next_field(lua_State *L) {
    Json object = view_value(L, lua_upvalueindex(1)), key, value;
    size_t pos = (size_t)lua_tointeger(L, lua_upvalueindex(2));
    if (json_kind(object) != JSON_OBJECT || !json_object_next(object, &pos, &key, &value)) return 0;
    lua_pushinteger(L, (lua_Integer)pos);
    lua_replace(L, lua_upvalueindex(2));
    lua_json_push(L, key);
    lua_json_push(L, value);
    return 2;
}

static int view_pairs(lua_State *L) {
    bool array = json_kind(view_value(L, 1)) == JSON_ARRAY;
    lua_settop(L, 1);
    lua_pushinteger(L, 0);
    lua_pushcclosure(L, array ? next_item : next_field, 2);
    return 1;
}

static const luaL_Reg view_methods[] = {
    {"__index", view_index},
    {"__newindex", view_newindex},
    {"__len", view_len},
    {"__eq", view_eq},
    {"__tostring", view_text},
    {"__pairs", view_pairs},
    {NULL, NULL},
};

static int null_text(lua_State *L) {
    lua_pushliteral(L, "null");
    return 1;
}

/* Code can neither see nor change a metatable of ours. */
static void hide_metatable(lua_State *L) {
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
}

void lua_json_open(lua_State *L, LuaViews *views) {
    lua_pushlightuserdata(L, views);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &views_key);
    luaL_newmetatable(L, view_name);
    luaL_setfuncs(L, view_methods, 0);
    lua_pushliteral(L, "part of the state"); /* what messages call it */
    lua_setfield(L, -2, "__name");
    hide_metatable(L);
    luaL_newmetatable(L, marked_name);
    hide_metatable(L);
    lua_pushlightuserdata(L, NULL); /* null: all light userdata share a metatable */
    lua_newtable(L);
    lua_pushcfunction(L, null_text);
    lua_setfield(L, -2, "__tostring");
    hide_metatable(L);
    lua_setmetatable(L, -2);
    lua_pop(L, 3);
}

/* ---- to Lua ---- */

/* Whether a number that is written as an integer is another one as a double. */
static bool loses_digits(lua_State *L, Json value, double number) {
    enum { DIGITS_MAX = 400 }; /* no double has more before its point */
    char text[DIGITS_MAX];
    Buf *written = &views_of(L)->text;
    buf_reset(written);
    json_print(value, NULL, written);
    size_t sign = written->data[0] == '-';
    if (strspn(written->data + sign, "0123456789") != written->len - sign) return false;
    snprintf(text, sizeof text, "%.0f", number);
    return strcmp(text, written->data) != 0;
}

static void push_number(lua_State *L, Json value) {
    if (json_tag(value) == JSON_TAG_INT) {
        lua_pushinteger(L, (lua_Integer)value.i);
        return;
    }
    double number = json_to_double(value);
    if (json_tag(value) != JSON_TAG_DOUBLE && loses_digits(L, value, number)) {
        char text[JSON_DESCRIBE_MAX];
        luaL_error(L,
                   "the number %s has more digits than Lua's numbers; have it as a text, or give "
                   "back the part of the state that it is in",
                   json_excerpt(value, text));
    }
    lua_pushnumber(L, number);
}

static void push_scalar(lua_State *L, Json value) {
    switch (json_kind(value)) {
    case JSON_NULL: lua_pushlightuserdata(L, NULL); break;
    case JSON_FALSE:
    case JSON_TRUE: lua_pushboolean(L, json_kind(value) == JSON_TRUE); break;
    case JSON_NUMBER: push_number(L, value); break;
    case JSON_STRING: lua_pushlstring(L, json_string_data(&value), json_string_len(value)); break;
    default: lua_pushnil(L); break;
    }
}

void lua_json_push(lua_State *L, Json value) {
    luaL_checkstack(L, 4, NULL);
    if (json_kind(value) == JSON_ARRAY || json_kind(value) == JSON_OBJECT) {
        push_view(L, value);
    } else {
        push_scalar(L, value);
    }
}

bool lua_json_is_marked(lua_State *L, int index) {
    if (!lua_istable(L, index) || !lua_getmetatable(L, index)) return false;
    luaL_getmetatable(L, marked_name);
    bool marked = lua_rawequal(L, -1, -2);
    lua_pop(L, 2);
    return marked;
}

int lua_json_array(lua_State *L) {
    if (lua_isnoneornil(L, 1)) {
        lua_settop(L, 0);
        lua_newtable(L);
    }
    luaL_checktype(L, 1, LUA_TTABLE);
    lua_settop(L, 1);
    luaL_setmetatable(L, marked_name);
    return 1;
}

enum { COPY_CHARGE = 1024 };

static void push_copy(lua_State *L, Json value, int depth) {
    Json key, item;
    luaL_checkstack(L, 6, NULL);
    if (depth > LUA_JSON_DEPTH) {
        luaL_error(L, "a value nested deeper than %d levels cannot be copied", LUA_JSON_DEPTH);
    }
    if (json_kind(value) == JSON_ARRAY) {
        size_t n = json_array_len(value);
        lua_createtable(L, n < 1024 ? (int)n : 1024, 0);
        luaL_setmetatable(L, marked_name);
        for (size_t i = 0; i < n; i++) {
            if (i % COPY_CHARGE == COPY_CHARGE - 1) lua_meter_charge(L, COPY_CHARGE);
            push_copy(L, json_array_get(value, i), depth + 1);
            lua_rawseti(L, -2, (lua_Integer)i + 1);
        }
    } else if (json_kind(value) == JSON_OBJECT) {
        lua_newtable(L);
        for (size_t pos = 0; json_object_next(value, &pos, &key, &item);) {
            push_scalar(L, key);
            push_copy(L, item, depth + 1);
            lua_rawset(L, -3);
        }
    } else {
        push_scalar(L, value);
    }
}

int lua_json_copy(lua_State *L) {
    luaL_checkany(L, 1);
    lua_settop(L, 1);
    if (lua_json_is_view(L, 1)) push_copy(L, view_value(L, 1), 1);
    return 1;
}

/* ---- from Lua ---- */

/* What is left of LUA_JSON_BYTES, and how deep we are. A table that holds another twice, which
 * holds another twice, ... is small in Lua and not in JSON. */
typedef struct Getting {
    lua_State *L;
    Error *err;
    int depth;
    int64_t room;
} Getting;

static Json get_value(Getting *g, int index);

static Json refuse(Getting *g, ErrorCode code, const char *sentence) {
    error_set(g->err, code, "%s", sentence);
    return json_none();
}

static bool take_room(Getting *g, size_t bytes) {
    g->room -= (int64_t)bytes;
    if (g->room >= 0) return true;
    return error_set(g->err, ERR_LIMIT, "What the code returns is larger than %d MB.",
                     LUA_JSON_BYTES >> 20);
}

static Json get_string(Getting *g, int index) {
    size_t len;
    const char *s = lua_tolstring(g->L, index, &len);
    return take_room(g, len) ? json_string(s, len) : json_none();
}

static Json get_array(Getting *g, int index, size_t n) {
    Json array = json_array();
    for (size_t i = 1; i <= n; i++) {
        json_breathe();
        lua_rawgeti(g->L, index, (lua_Integer)i);
        Json item = get_value(g, lua_gettop(g->L));
        lua_pop(g->L, 1);
        if (json_is_none(item)) {
            json_unref(array);
            return json_none();
        }
        array = json_array_push(array, item);
    }
    return array;
}

static Json get_key(Getting *g, int index) {
    char text[32];
    if (lua_type(g->L, index) == LUA_TSTRING) return get_string(g, index);
    if (lua_isinteger(g->L, index)) {
        snprintf(text, sizeof text, "%" PRId64, (int64_t)lua_tointeger(g->L, index));
        return json_string_c(text);
    }
    return refuse(
        g, ERR_DATA,
        "The code returns a table with a key that is neither a text nor an integer, which "
        "JSON has not.");
}

static int by_key(const void *a, const void *b) {
    return json_string_compare(*(const Json *)a, *(const Json *)b);
}

static Json get_object(Getting *g, int index) {
    Json *items = NULL; /* key, value, key, value, ... */
    size_t n = 0, cap = 0;
    bool good = true;
    lua_pushnil(g->L);
    while (good && lua_next(g->L, index)) {
        int top = lua_gettop(g->L);
        json_breathe();
        for (int i = 0; i < 2 && good; i++) {
            Json part = i ? get_value(g, top) : get_key(g, top - 1);
            good = !json_is_none(part);
            items = mem_grow(items, n, &cap, sizeof *items);
            items[n++] = part;
        }
        lua_pop(g->L, good ? 1 : 2);
    }
    Json object = json_none();
    if (good) {
        if (n) qsort(items, n / 2, 2 * sizeof *items, by_key);
        object = n ? json_object_from(items, n / 2) : json_object();
    } else {
        while (n) json_unref(items[--n]);
    }
    mem_free(items);
    return object;
}

/* Whether the keys are 1..n, n at least 1: n different ones, none of them outside. */
static bool is_sequence(lua_State *L, int index, size_t *n) {
    size_t keys = 0;
    *n = (size_t)lua_rawlen(L, index);
    if (*n == 0) return false;
    lua_pushnil(L);
    while (lua_next(L, index)) {
        lua_pop(L, 1);
        json_breathe();
        lua_Integer key = lua_isinteger(L, -1) ? lua_tointeger(L, -1) : 0;
        if (key < 1 || (size_t)key > *n) {
            lua_pop(L, 1);
            return false;
        }
        keys++;
    }
    return keys == *n;
}

/* The last place of a table that is said to be an array; what is missing before it is null. False, with the error
 * set: there is something in it that has no place. */
static bool last_place(Getting *g, int index, size_t *n) {
    *n = 0;
    lua_pushnil(g->L);
    while (lua_next(g->L, index)) {
        lua_pop(g->L, 1);
        lua_Integer key = lua_isinteger(g->L, -1) ? lua_tointeger(g->L, -1) : 0;
        if (key < 1) {
            bool text = lua_type(g->L, -1) == LUA_TSTRING;
            error_set(g->err, ERR_DATA,
                      "The code returns an array(...) with the key %s%.100s%s: the places of an "
                      "array are integers from 1 on.",
                      text ? "`" : "", text ? lua_tostring(g->L, -1) : luaL_typename(g->L, -1),
                      text ? "`" : "");
            lua_pop(g->L, 1);
            return false;
        }
        *n = (size_t)key > *n ? (size_t)key : *n;
    }
    return true;
}

static Json get_table(Getting *g, int index) {
    size_t n;
    if (g->depth >= LUA_JSON_DEPTH) {
        return refuse(g, ERR_LIMIT,
                      "The code returns a table nested deeper than 100 levels, or one that holds "
                      "itself.");
    }
    if (!take_room(g, TABLE_BYTES)) return json_none();
    g->depth++;
    bool array = is_sequence(g->L, index, &n), marked = !array && lua_json_is_marked(g->L, index);
    Json value = json_none();
    if (array || (marked && last_place(g, index, &n))) {
        value = get_array(g, index, n);
    } else if (!marked) {
        value = get_object(g, index);
    }
    g->depth--;
    return value;
}

static Json get_value(Getting *g, int index) {
    if (!take_room(g, sizeof(Json))) return json_none();
    if (!lua_checkstack(g->L, 8)) return refuse(g, ERR_LIMIT, "Lua's stack is full.");
    switch (lua_type(g->L, index)) {
    case LUA_TNIL: return json_null();
    case LUA_TBOOLEAN: return json_bool(lua_toboolean(g->L, index));
    case LUA_TNUMBER:
        if (lua_isinteger(g->L, index)) return json_int((int64_t)lua_tointeger(g->L, index));
        if (isfinite(lua_tonumber(g->L, index))) return json_double(lua_tonumber(g->L, index));
        return refuse(g, ERR_DATA,
                      "The code returns a number that is not finite, which JSON has not.");
    case LUA_TSTRING: return get_string(g, index);
    case LUA_TTABLE: return get_table(g, index);
    case LUA_TLIGHTUSERDATA: return json_null();
    default: break;
    }
    if (lua_json_is_view(g->L, index)) return json_ref(view_value(g->L, index));
    error_set(g->err, ERR_DATA, "The code returns a %s, which JSON has not.",
              luaL_typename(g->L, index));
    return json_none();
}

Json lua_json_get(lua_State *L, int index, Error *err) {
    Getting g = {.L = L, .err = err, .room = LUA_JSON_BYTES};
    return get_value(&g, lua_absindex(L, index));
}
