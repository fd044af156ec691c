/* lua_names.h - names for tables and functions, without the addresses that Lua shows.
 *
 * tostring({}) is "table: 1", print and string.format("%s") say the same, and "%p" is "1": numbers in the order in
 * which they were asked for. One value keeps its number as long as a step runs; the next step begins anew. So a
 * step says the same each time it runs, and nothing of it tells where our memory is.
 *
 * All inside a protected call.
 */
#ifndef PAWL_LUA_NAMES_H
#define PAWL_LUA_NAMES_H

#include <lua.h>

/* A step begins: no value has a number. */
void lua_names_reset(lua_State *L);

/* As luaL_tolstring(): pushes the text of a value. */
void lua_names_push(lua_State *L, int at);

int lua_names_tostring(lua_State *L);
/* Upvalue 1 is Lua's own. */
int lua_names_format(lua_State *L);

#endif
