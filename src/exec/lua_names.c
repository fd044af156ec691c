#include "lua_names.h"

#include <lauxlib.h>
#include <stdbool.h>
#include <string.h>

/* Its address is a key of the registry: there is a table from values to their numbers, which keeps none of them
 * alive. Its element 1 says how many there are; integers have no number themselves. */
static const char names_key;

void lua_names_reset(lua_State *L) {
    lua_pushnil(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
}

static void push_names(lua_State *L) {
    if (lua_rawgetp(L, LUA_REGISTRYINDEX, &names_key) == LUA_TTABLE) return;
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &names_key);
}

static lua_Integer number_of(lua_State *L, int at) {
    at = lua_absindex(L, at);
    push_names(L);
    lua_pushvalue(L, at);
    lua_rawget(L, -2);
    lua_Integer number = lua_tointeger(L, -1);
    if (!number) {
        lua_rawgeti(L, -2, 1);
        number = lua_tointeger(L, -1) + 1;
        lua_pushinteger(L, number);
        lua_rawseti(L, -4, 1);
        lua_pushvalue(L, at);
        lua_pushinteger(L, number);
        lua_rawset(L, -5);
        lua_pop(L, 1);
    }
    lua_pop(L, 2);
    return number;
}

void lua_names_push(lua_State *L, int at) {
    at = lua_absindex(L, at);
    bool plain = lua_type(L, at) <= LUA_TSTRING && lua_type(L, at) != LUA_TLIGHTUSERDATA;
    if (plain || luaL_getmetafield(L, at, "__tostring") != LUA_TNIL) {
        lua_pop(L, plain ? 0 : 1);
        luaL_tolstring(L, at, NULL);
        return;
    }
    bool named = luaL_getmetafield(L, at, "__name") == LUA_TSTRING;
    if (!named) lua_pushstring(L, luaL_typename(L, at));
    lua_pushfstring(L, "%s: %I", lua_tostring(L, -1), number_of(L, at));
    lua_remove(L, -2);
}

int lua_names_tostring(lua_State *L) {
    luaL_checkany(L, 1);
    lua_names_push(L, 1);
    return 1;
}

/* What "%p" shows of a value. */
static void push_number(lua_State *L, int at) {
    if (lua_topointer(L, at)) {
        lua_pushfstring(L, "%I", number_of(L, at));
    } else {
        lua_pushliteral(L, "(null)");
    }
}

/* Puts texts in the place of what would show an address, and leaves the rest to Lua's own, which then finds its
 * arguments where it looks for them. */
int lua_names_format(lua_State *L) {
    size_t len;
    const char *format = luaL_checklstring(L, 1, &len), *end = format + len;
    int top = lua_gettop(L), arg = 1;
    luaL_Buffer out;
    luaL_buffinit(L, &out);
    while (format < end) {
        const char *percent = memchr(format, '%', (size_t)(end - format));
        const char *word = percent ? percent + 1 + strspn(percent + 1, " -+#.0123456789") : end;
        luaL_addlstring(&out, format, (size_t)(word - format));
        format = word + 1;
        if (word >= end) break;
        arg += *word != '%';
        if (arg <= top && (*word == 's' || *word == 'p')) {
            (*word == 's' ? lua_names_push : push_number)(L, arg);
            lua_replace(L, arg);
        }
        luaL_addchar(&out, *word == 'p' ? 's' : *word);
    }
    luaL_pushresult(&out);
    lua_replace(L, 1);
    lua_settop(L, top);
    return lua_tocfunction(L, lua_upvalueindex(1))(L);
}
