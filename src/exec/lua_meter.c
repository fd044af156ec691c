#include "lua_meter.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <uv.h>

enum {
    A_LOOK = 1000,   /* instructions between two looks at the meter */
    LARGE = 1 << 16, /* memory of this size is long work for a single instruction */
    BYTES_AN_INSTRUCTION = 16,
    GRACE_NS = 2000000, /* after a slice, for functions in C to come to their end */
};

static LuaMeter *meter_of(lua_State *L) {
    return *(LuaMeter **)lua_getextraspace(L);
}

static void on_count(lua_State *L, lua_Debug *where);

static void set_over(LuaMeter *meter, const char *which) {
    meter->over = which;
    lua_sethook(meter->code, on_count, LUA_MASKCOUNT, 1);
}

/* Whether the code may go on. */
static bool look(LuaMeter *meter, uint64_t instructions) {
    if (!meter->running || meter->over) return !meter->over;
    meter->instructions += instructions;
    uint64_t now = uv_hrtime();
    meter->slice_over = meter->slice_end && now >= meter->slice_end;
    meter->late = meter->deadline && now >= meter->deadline;
    if (meter->late) {
        set_over(meter, "ran longer than the node's timeout");
    } else if (meter->instructions > LUA_METER_INSTRUCTIONS) {
        set_over(meter, "ran more than 50 million instructions");
    }
    return !meter->over;
}

/* The slice is over: gives way, if that can be done here without leaving the code. */
static void give_way(lua_State *L, LuaMeter *meter) {
    if (meter->fiber) {
        fiber_give_way(meter->fiber);
        look(meter, 0);
    } else if (uv_hrtime() >= meter->slice_end + GRACE_NS) {
        meter->wants_fiber = true;
        set_over(meter, "has to begin anew");
    }
    if (meter->over) luaL_error(L, "the code %s", meter->over);
}

static void on_count(lua_State *L, lua_Debug *where) {
    LuaMeter *meter = meter_of(L);
    (void)where;
    if (!look(meter, A_LOOK)) luaL_error(L, "the code %s", meter->over);
    if (!meter->slice_over) return;
    if (meter->fiber || !lua_isyieldable(L)) {
        give_way(L, meter);
    } else {
        lua_yield(L, 0);
    }
}

void lua_meter_charge(lua_State *L, uint64_t instructions) {
    LuaMeter *meter = meter_of(L);
    if (!look(meter, instructions)) luaL_error(L, "the code %s", meter->over);
    if (meter->running && meter->slice_over) give_way(L, meter);
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
    lua_State *L = lua_newstate(allocate, meter);
    if (L) *(LuaMeter **)lua_getextraspace(L) = meter;
    return L;
}

void lua_meter_start(LuaMeter *meter, lua_State *code) {
    meter->code = code;
    meter->late = meter->slice_over = false;
    meter->instructions = 0;
    meter->over = NULL;
    meter->wants_fiber = false;
    meter->running = true;
    lua_sethook(code, on_count, LUA_MASKCOUNT, A_LOOK);
}

void lua_meter_slice(LuaMeter *meter, uint64_t slice_end, uint64_t deadline) {
    meter->slice_end = slice_end;
    meter->deadline = deadline;
}

void lua_meter_end(LuaMeter *meter) {
    if (meter->running) set_over(meter, "was ended");
    meter->slice_end = 0;
}

void lua_meter_stop(LuaMeter *meter) {
    if (meter->running) lua_sethook(meter->code, NULL, 0, 0);
    meter->running = false;
}
