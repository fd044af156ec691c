/* lua_meter.h - what code in Lua may use: instructions, time and memory.
 *
 * A state made by lua_meter_state() allocates within the meter. While code runs in a coroutine between
 * lua_meter_start() and lua_meter_stop() the interpreter looks at the meter every so many
 * instructions; functions in C that work long without executing any say so with
 * lua_meter_charge(). Once a limit is passed every further instruction raises, so that the code
 * cannot hold the error with pcall() and go on.
 *
 * Where a slice is over the coroutine yields, out of the midst of the code: lua_resume() gives
 * LUA_YIELD, and goes on with it. It cannot where a function in C works, or has called the code (what
 * table.sort() compares with, what string.gsub() replaces with): there the code is ended with wants_fiber, and begins anew
 * on one (base/fiber.h), which gives way anywhere.
 */
#ifndef PAWL_LUA_METER_H
#define PAWL_LUA_METER_H

#include "fiber.h"

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LUA_METER_INSTRUCTIONS = 50000000,
    LUA_METER_BYTES = 64 << 20,
};

typedef struct LuaMeter {
    lua_State *code; /* the coroutine that it runs in */
    size_t bytes;
    uint64_t
        instructions; /* those of functions in C, and the work of allocating, as if they were some */
    uint64_t deadline;  /* of the node, as uv_hrtime() counts; 0: none */
    uint64_t slice_end; /* the same */
    bool late;          /* the deadline was passed */
    bool slice_over;
    bool running;
    Fiber *fiber;     /* that the code runs on; NULL: on none */
    bool wants_fiber; /* the slice is over where nothing else helps */
    const char *over; /* which limit was passed, as half a sentence; NULL: none */
} LuaMeter;

/* NULL when there is no memory. The meter, all zero before, stays where it is; lua_close() ends the
 * state. */
lua_State *lua_meter_state(LuaMeter *meter);

void lua_meter_start(LuaMeter *meter, lua_State *code);
void lua_meter_stop(LuaMeter *meter);
/* Before each slice: when it is over and when the node is, as uv_hrtime() counts; 0: never. */
void lua_meter_slice(LuaMeter *meter, uint64_t slice_end, uint64_t deadline);

/* Code that runs on a fiber, and has given way, ends when it goes on. */
void lua_meter_end(LuaMeter *meter);

/* As if so many instructions had been executed. Raises when a limit is passed. */
void lua_meter_charge(lua_State *L, uint64_t instructions);

#endif
