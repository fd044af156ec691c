/* lua_meter.h - what code in Lua may use: instructions, time and memory.
 *
 * A state made by lua_meter_state() allocates within the meter. While code runs between
 * lua_meter_start() and lua_meter_stop() the interpreter looks at the meter every so many
 * instructions; functions in C that work long without executing any say so with
 * lua_meter_charge(). Once a limit is passed every further instruction raises, so that the code
 * cannot hold the error with pcall() and go on.
 */
#ifndef PAWL_LUA_METER_H
#define PAWL_LUA_METER_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LUA_METER_INSTRUCTIONS = 50000000,
    LUA_METER_SECONDS = 10,
    LUA_METER_BYTES = 64 << 20,
};

typedef struct LuaMeter {
    lua_State *L;
    size_t bytes;
    uint64_t instructions;
    uint64_t started; /* nanoseconds */
    uint64_t timeout; /* the same, of the node */
    bool late;        /* that was passed */
    bool running;
    const char *over; /* which limit was passed, as half a sentence; NULL: none */
} LuaMeter;

/* NULL when there is no memory. The meter, all zero before, stays where it is; lua_close() ends the
 * state. */
lua_State *lua_meter_state(LuaMeter *meter);

void lua_meter_start(LuaMeter *meter, uint64_t timeout); /* nanoseconds; 0: none */
void lua_meter_stop(LuaMeter *meter);

/* As if so many instructions had been executed. Raises when a limit is passed. */
void lua_meter_charge(lua_State *L, uint64_t instructions);

#endif
