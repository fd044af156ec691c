/* lua_pattern.h - Lua's patterns, with a bound on their work.
 *
 * string.find, match, gmatch and gsub as the manual of Lua 5.4 has them. Lua's own do not look at
 * any limit while they match, and a pattern such as ".-.-.-.-x" takes the fourth power of the
 * text's length; these charge what they do to the meter (lua_meter.h).
 */
#ifndef PAWL_LUA_PATTERN_H
#define PAWL_LUA_PATTERN_H

#include <lauxlib.h>

extern const luaL_Reg lua_pattern_functions[]; /* ended by a row without a name */

#endif
