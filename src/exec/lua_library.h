/* lua_library.h - what code in Lua may call.
 *
 * Lua's own libraries without what loads code, reaches outside, or leaves something behind for code
 * that runs later; and with bounded functions where Lua's own can work for hours without executing
 * an instruction.
 */
#ifndef PAWL_LUA_LIBRARY_H
#define PAWL_LUA_LIBRARY_H

#include <lua.h>

/* Pushes a table of all globals: functions, and libraries as tables. To be called once for a state,
 * after lua_json_open(). Raises. */
void lua_library_push(lua_State *L, lua_CFunction print);

#endif
