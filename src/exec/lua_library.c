#include "lua_library.h"

#include "lua_json.h"
#include "lua_meter.h"
#include "lua_names.h"
#include "lua_pattern.h"

#include <lauxlib.h>
#include <lualib.h>
#include <string.h>
#include <sys/random.h>

/* ---- functions of ours ---- */

/* What the state is made of looks like tables. */
static int base_type(lua_State *L) {
    luaL_checkany(L, 1);
    lua_pushstring(L, lua_json_is_view(L, 1)      ? "table"
                      : lua_islightuserdata(L, 1) ? "null"
                                                  : luaL_typename(L, 1));
    return 1;
}

/* A finalizer would run in the time of whoever comes later. */
static int base_setmetatable(lua_State *L) {
    luaL_checktype(L, 1, LUA_TTABLE);
    luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
    lua_settop(L, 2);
    if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
        return luaL_error(L, "cannot change a protected metatable");
    }
    if (lua_istable(L, 2)) {
        lua_pushliteral(L, "__gc");
        if (lua_rawget(L, 2) != LUA_TNIL) return luaL_error(L, "__gc cannot be set here");
    }
    lua_settop(L, 2);
    lua_setmetatable(L, 1);
    return 1;
}

/* Lua's own goes round n times even when there is nothing to repeat. */
static int string_rep(lua_State *L) {
    size_t len, gap;
    const char *text = luaL_checklstring(L, 1, &len);
    lua_Integer n = luaL_checkinteger(L, 2);
    const char *sep = luaL_optlstring(L, 3, "", &gap);
    luaL_Buffer out;
    if (n <= 0 || len + gap == 0) {
        lua_pushliteral(L, "");
        return 1;
    }
    if ((lua_Unsigned)n > LUA_METER_BYTES / (len + gap)) {
        return luaL_error(L, "resulting string too large");
    }
    luaL_buffinit(L, &out);
    luaL_buffinitsize(L, &out, (size_t)n * (len + gap));
    for (lua_Integer i = 0; i < n; i++) {
        if (i) luaL_addlstring(&out, sep, gap);
        luaL_addlstring(&out, text, len);
    }
    luaL_pushresult(&out);
    return 1;
}

/* ---- tables ---- */

/* What a call costs, in instructions, on a table of so many elements. */
typedef uint64_t (*TableCost)(lua_State *L, uint64_t len);

/* insert(t, pos, v) and remove(t, pos) move all that is behind pos. */
static uint64_t cost_of_insert(lua_State *L, uint64_t len) {
    return lua_gettop(L) == 3 ? len : 0;
}

static uint64_t cost_of_remove(lua_State *L, uint64_t len) {
    return lua_gettop(L) == 2 ? len : 0;
}

static uint64_t cost_of_walk(lua_State *L, uint64_t len) {
    (void)L;
    return len;
}

static uint64_t cost_of_sort(lua_State *L, uint64_t len) {
    (void)L;
    uint64_t rounds = 1;
    while (len >> rounds) rounds++;
    return len * rounds;
}

static uint64_t cost_of_move(lua_State *L, uint64_t len) {
    lua_Integer from = luaL_checkinteger(L, 2), to = luaL_checkinteger(L, 3);
    (void)len;
    return to < from ? 0 : (lua_Unsigned)to - (lua_Unsigned)from;
}

static const struct {
    const char *name;
    TableCost cost;
} table_rows[] = {
    {"insert", cost_of_insert}, {"remove", cost_of_remove}, {"concat", cost_of_walk},
    {"unpack", cost_of_walk},   {"sort", cost_of_sort},     {"move", cost_of_move},
};

/* Elements that are there: __len could say anything, and Lua's functions would believe it. */
static uint64_t true_length(lua_State *L) {
    if (lua_json_is_view(L, 1)) return (uint64_t)luaL_len(L, 1);
    if (lua_istable(L, 1) && luaL_getmetafield(L, 1, "__len") != LUA_TNIL) {
        luaL_argerror(L, 1, "a table with __len cannot be given to it");
    }
    return lua_istable(L, 1) ? (uint64_t)lua_rawlen(L, 1) : 0;
}

/* a < b, which the sort of a large table is given, since that gives way in what it compares with alone. */
static int less(lua_State *L) {
    lua_meter_charge(L, 1);
    lua_pushboolean(L, lua_compare(L, 1, 2, LUA_OPLT));
    return 1;
}

/* Stands before one of Lua's functions: upvalue 1 is the function, 2 the row. */
static int paid_table_call(lua_State *L) {
    enum { LARGE = 10000 };
    TableCost cost = table_rows[lua_tointeger(L, lua_upvalueindex(2))].cost;
    uint64_t len = true_length(L);
    if (cost == cost_of_sort && lua_isnoneornil(L, 2) && len > LARGE) {
        lua_settop(L, 1);
        lua_pushcfunction(L, less);
    }
    lua_meter_charge(L, cost(L, len));
    lua_pushvalue(L, lua_upvalueindex(1));
    lua_insert(L, 1);
    lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
    return lua_gettop(L);
}

/* ---- all of them ---- */

static const char *const base_names[] = {
    "assert",   "error",  "getmetatable", "ipairs", "next",   "pairs",    "pcall",
    "rawequal", "rawget", "rawlen",       "rawset", "select", "tonumber", NULL,
};

static const luaL_Reg base_functions[] = {
    {"type", base_type},
    {"tostring", lua_names_tostring},
    {"setmetatable", base_setmetatable},
    {"array", lua_json_array},
    {"copy", lua_json_copy},
    {NULL, NULL},
};

static const luaL_Reg string_functions[] = {{"rep", string_rep}, {NULL, NULL}};

/* What is taken out: bytecode, formats for files, and a seed that later code would feel. */
static const char *const string_removed[] = {"dump", "pack", "packsize", "unpack", NULL};
static const char *const math_removed[] = {"randomseed", NULL};

static void remove_fields(lua_State *L, const char *const *names) {
    for (; *names; names++) {
        lua_pushnil(L);
        lua_setfield(L, -2, *names);
    }
}

/* Pushes a library as Lua has it. */
static void open_library(lua_State *L, lua_CFunction open, const char *name) {
    lua_pushcfunction(L, open);
    lua_pushstring(L, name);
    lua_call(L, 1, 1);
}

/* Lua's own seed is an address, which could be computed from the numbers that follow. math is on the stack. */
static void seed_random(lua_State *L) {
    lua_Integer seed[2] = {0};
    ssize_t n = getrandom(seed, sizeof seed, GRND_NONBLOCK);
    (void)n; /* zeros are no secret either */
    lua_getfield(L, -1, "randomseed");
    lua_pushinteger(L, seed[0]);
    lua_pushinteger(L, seed[1]);
    lua_call(L, 2, 0);
}

void lua_library_push(lua_State *L, lua_CFunction print) {
    lua_newtable(L);
    open_library(L, luaopen_base, "_G");
    for (const char *const *name = base_names; *name; name++) {
        lua_getfield(L, -1, *name);
        lua_setfield(L, -3, *name);
    }
    lua_pop(L, 1);
    luaL_setfuncs(L, base_functions, 0);
    lua_pushcfunction(L, print);
    lua_setfield(L, -2, "print");
    open_library(L, luaopen_string, "string");
    remove_fields(L, string_removed);
    luaL_setfuncs(L, string_functions, 0);
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, lua_names_format, 1);
    lua_setfield(L, -2, "format");
    luaL_setfuncs(L, lua_pattern_functions, 0);
    lua_setfield(L, -2, "string");
    /* ("x"):rep(3) finds its functions through the metatable of strings, which code must not reach. */
    lua_pushliteral(L, "");
    lua_getmetatable(L, -1);
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_pop(L, 2);
    open_library(L, luaopen_table, "table");
    for (size_t i = 0; i < sizeof table_rows / sizeof *table_rows; i++) {
        lua_getfield(L, -1, table_rows[i].name);
        lua_pushinteger(L, (lua_Integer)i);
        lua_pushcclosure(L, paid_table_call, 2);
        lua_setfield(L, -2, table_rows[i].name);
    }
    lua_setfield(L, -2, "table");
    open_library(L, luaopen_math, "math");
    seed_random(L);
    remove_fields(L, math_removed);
    lua_setfield(L, -2, "math");
    open_library(L, luaopen_utf8, "utf8");
    lua_setfield(L, -2, "utf8");
}
