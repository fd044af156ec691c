#include "lua_meter.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <uv.h>

enum {
    A_LOOK = 1000,   /* instructions between two looks at the meter */
    LARGE = 1 << 16, /* memory of this size is long work for a single instruction */
    BYTES_AN_INSTRUCTION = 16,
};

static LuaMeter *meter_of(lua_State *L) {
    return *(LuaMeter **)lua_getextraspace(L);
}

static void on_count(lua_State *L, lua_Debug *where);

static void set_over(LuaMeter *meter, const char *which) {
    meter->over = which;
    lua_sethook(meter->L, on_count, LUA_MASKCOUNT, 1);
}

/* Whether the code may go on. */
static bool look(LuaMeter *meter, uint64_t instructions) {
    if (!meter->running || meter->over) return !meter->over;
    meter->instructions += instructions;
    uint64_t passed = uv_hrtime() - meter->started;
    meter->late = meter->timeout && passed > meter->timeout;
    if (meter->late) {
        set_over(meter, "ran longer than the node's timeout");
    } else if (meter->instructions > LUA_METER_INSTRUCTIONS) {
        set_over(meter, "ran more than 50 million instructions");
    } else if (passed > (uint64_t)LUA_METER_SECONDS * 1000000000) {
        set_over(meter, "ran longer than 10 seconds");
    }
    return !meter->over;
}

static void on_count(lua_State *L, lua_Debug *where) {
    (void)where;
    if (!look(meter_of(L), A_LOOK)) luaL_error(L, "the code %s", meter_of(L)->over);
}

void lua_meter_charge(lua_State *L, uint64_t instructions) {
    if (!look(meter_of(L), instructions)) luaL_error(L, "the code %s", meter_of(L)->over);
}

static void *allocate(void *ctx, void *p, size_t old, size_t size) {
    LuaMeter *meter = ctx;
    old = p ? old : 0; /* of a new object it is the kind */
    if (size == 0) {
        free(p);
        meter->bytes -= old;
        return NULL;
    }
    size_t more = size > old ? size - old : 0;
    if (more && (meter->bytes + more > LUA_METER_BYTES ||
                 (more >= LARGE && !look(meter, more / BYTES_AN_INSTRUCTION)))) {
        return NULL; /* the only way to stop code from here: Lua makes it an error */
    }
    void *moved = realloc(p, size);
    if (moved) meter->bytes = meter->bytes - old + size;
    return moved;
}

lua_State *lua_meter_state(LuaMeter *meter) {
    meter->L = lua_newstate(allocate, meter);
    if (meter->L) *(LuaMeter **)lua_getextraspace(meter->L) = meter;
    return meter->L;
}

void lua_meter_start(LuaMeter *meter, uint64_t timeout) {
    meter->timeout = timeout;
    meter->late = false;
    meter->instructions = 0;
    meter->started = uv_hrtime();
    meter->over = NULL;
    meter->running = true;
    lua_sethook(meter->L, on_count, LUA_MASKCOUNT, A_LOOK);
}

void lua_meter_stop(LuaMeter *meter) {
    meter->running = false;
    lua_sethook(meter->L, NULL, 0, 0);
}
