/* The work of a lua node: runs the code and gives back what it returns.
 *
 * The code sees `state`, the variables in scope by their names, `null`, `array(t)` (a table that is
 * an array even when it is empty), `copy(v)` (a part of the state as tables that can be changed)
 * and print(), which writes to the node's log; of Lua's own: the basic functions that cannot load
 * code, and string, table, math and utf8. Nothing in it reaches files, the clock or the
 * environment. Code that returns nothing changes nothing.
 *
 * One interpreter serves all lua nodes of an engine, with compiled chunks kept by their text. What
 * one step does cannot be seen by the next: each has a new table of globals into which functions
 * and libraries are copied when they are first named, and metatables of ours cannot be reached.
 *
 * What the code may use is bounded by a meter (lua_meter.h), which the functions that it can call
 * keep to as well (lua_library.h). */
#include "exec.h"
#include "json_build.h"
#include "json_print.h"
#include "lua_json.h"
#include "lua_library.h"
#include "lua_meter.h"
#include "lua_names.h"
#include "mem.h"

#include <lauxlib.h>
#include <stdio.h>
#include <string.h>

enum {
    MEMORY_TIDY = 8 << 20, /* garbage is collected after a step that leaves more than this */
    CHUNKS_MAX = 256,      /* kept compiled; past it all are forgotten */
    MESSAGE_MAX = 1000,    /* bytes of what went wrong */
    PRINT_COST = 1000,     /* instructions, besides one a byte: it bounds the log */
};

typedef struct Lua {
    LuaMeter meter; /* the first: lua_of() relies on it */
    lua_State *L;
    LuaViews views;
    int nchunks;
    /* of the step that runs */
    Step *step;
    Json result;
    Error error; /* of the result, when it is none that JSON has */
} Lua;

static Lua *lua_of(lua_State *L) {
    return *(Lua **)lua_getextraspace(L);
}

/* ---- the interpreter ---- */

/* Their addresses are keys of the registry. */
static const char chunks_key, globals_key;

/* print(...): a line of the node's log. */
static int print_to_log(lua_State *L) {
    int n = lua_gettop(L);
    luaL_Buffer line;
    luaL_buffinit(L, &line);
    for (int i = 1; i <= n; i++) {
        if (i > 1) luaL_addchar(&line, '\t');
        lua_names_push(L, i);
        luaL_addvalue(&line);
    }
    luaL_addchar(&line, '\n');
    luaL_pushresult(&line);
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    lua_meter_charge(L, PRINT_COST + len);
    step_log(lua_of(L)->step, "log", text, len);
    return 0;
}

/* A global that is named for the first time: upvalue 1 is the table that has them all. A library is
 * copied, so that what the code does to it is its own. */
static int find_global(lua_State *L) {
    lua_settop(L, 2);
    lua_pushvalue(L, 2);
    if (lua_rawget(L, lua_upvalueindex(1)) == LUA_TTABLE) {
        lua_newtable(L);
        lua_pushnil(L);
        while (lua_next(L, 3)) {
            lua_pushvalue(L, -2);
            lua_insert(L, -2);
            lua_rawset(L, 4);
        }
    }
    if (!lua_isnil(L, -1)) {
        lua_pushvalue(L, 2);
        lua_pushvalue(L, -2);
        lua_rawset(L, 1);
    }
    return 1;
}

static int open_all(lua_State *L) {
    lua_json_open(L, &lua_of(L)->views);
    lua_createtable(L, 0, 2); /* the metatable of every table of globals */
    lua_library_push(L, print_to_log);
    lua_pushcclosure(L, find_global, 1);
    lua_setfield(L, -2, "__index");
    lua_pushboolean(L, 0);
    lua_setfield(L, -2, "__metatable");
    lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
    lua_newtable(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &chunks_key);
    return 0;
}

static void exec_lua_free(void *data) {
    Lua *lua = data;
    if (!lua) return;
    lua_json_release(&lua->views);
    lua_close(lua->L);
    mem_free(lua);
}

static Lua *lua_new(void) {
    Lua *lua = mem_zalloc(sizeof *lua);
    lua->L = lua_meter_state(&lua->meter);
    if (!lua->L) {
        mem_free(lua);
        return NULL;
    }
    lua_pushcfunction(lua->L, open_all);
    if (lua_pcall(lua->L, 0, 0, 0) != LUA_OK) {
        exec_lua_free(lua);
        return NULL;
    }
    return lua;
}

/* ---- one step, inside a protected call ---- */

/* Pushes the compiled code; raises what the compiler has to say. */
static void push_chunk(lua_State *L, Lua *lua, Json code) {
    lua_rawgetp(L, LUA_REGISTRYINDEX, &chunks_key);
    lua_pushlstring(L, json_string_data(&code), json_string_len(code));
    lua_pushvalue(L, -1);
    if (lua_rawget(L, -3) == LUA_TFUNCTION) return;
    lua_pop(L, 1);
    size_t len;
    const char *text = lua_tolstring(L, -1, &len);
    if (luaL_loadbufferx(L, text, len, "=lua", "t") != LUA_OK) lua_error(L);
    if (++lua->nchunks > CHUNKS_MAX) {
        lua_newtable(L);
        lua_rawsetp(L, LUA_REGISTRYINDEX, &chunks_key);
        lua->nchunks = 0;
        return;
    }
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, -5);
}

static int run_step(lua_State *L) {
    Lua *lua = lua_of(L);
    lua_names_reset(L);
    push_chunk(L, lua, step_param(lua->step, LUA_CODE)->value);
    const Node *node = step_node(lua->step);
    lua_createtable(L, 0, 8); /* its globals */
    lua_json_push(L, step_state(lua->step));
    lua_setfield(L, -2, "state");
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    for (size_t i = 0; i < node->nvars; i++) {
        lua_json_push(L, step_var(lua->step, i));
        lua_setfield(L, -2, node->vars[i]);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
    lua_setmetatable(L, -2);
    lua_setupvalue(L, -2, 1);
    int before = lua_gettop(L) - 1;
    lua_meter_start(&lua->meter, (uint64_t)step_timeout_ms(lua->step) * 1000000);
    lua_call(L, 0, LUA_MULTRET);
    lua_meter_stop(&lua->meter);
    if (lua_gettop(L) > before) {
        lua->result = lua_json_get(L, before + 1, &lua->error);
    } else { /* it changes nothing; where its result has a name, that is null */
        lua->result = json_is_none(step_node(lua->step)->output) ? json_object() : json_null();
    }
    return 0;
}

/* ---- how it ended ---- */

/* Gathered before the interpreter is tidied and the engine goes on, perhaps into another lua node. */
typedef struct Failure {
    const char *kind;
    Json details;
    char message[MESSAGE_MAX];
} Failure;

static Failure describe(const Lua *lua, int status) {
    Failure f = {.kind = "lua"};
    if (lua->meter.over || status == LUA_ERRMEM) {
        const char *over = lua->meter.over;
        f.kind = "limit";
        snprintf(f.message, sizeof f.message, "The code %s and was ended.",
                 over ? over : "needed more than 64 MB of memory");
    } else if (lua_type(lua->L, -1) == LUA_TSTRING) { /* "lua:3: message" */
        const char *message = lua_tostring(lua->L, -1);
        int line, skip = 0;
        if (sscanf(message, "lua:%d: %n", &line, &skip) == 1 && skip) {
            line += step_param(lua->step, LUA_CODE)->line - 1; /* of the file */
            f.details = OBJECT(KEY("line", json_int(line)));
            snprintf(f.message, sizeof f.message, "Line %d: %s", line, message + skip);
        } else {
            snprintf(f.message, sizeof f.message, "%s", message);
        }
    } else { /* error({code = 7}): the value goes along, as far as it is one */
        char text[JSON_DESCRIBE_MAX] = "a value that JSON has not";
        Json value = lua_json_get(lua->L, -1, NULL);
        if (!json_is_none(value)) {
            json_describe(value, text);
            f.details = OBJECT(KEY("value", value));
        }
        snprintf(f.message, sizeof f.message, "The code raised %s", text);
    }
    return f;
}

static void run(Lua *lua, Step *step) {
    lua->step = step;
    lua->meter.over = NULL;
    lua->meter.late = false;
    error_clear(&lua->error);
    lua_pushcfunction(lua->L, run_step);
    int status = lua_pcall(lua->L, 0, 0, 0);
    lua_meter_stop(&lua->meter);
    Json result = json_take(&lua->result);
    Failure failure = {.kind = NULL};
    if (status != LUA_OK) failure = describe(lua, status);
    lua_settop(lua->L, 0);
    lua_json_release(&lua->views);
    if (lua->meter.bytes > MEMORY_TIDY) lua_gc(lua->L, LUA_GCCOLLECT);
    if (status != LUA_OK && lua->meter.late) {
        json_unref(failure.details);
        exec_fail_late(step);
    } else if (status != LUA_OK) {
        step_fail(step, failure.kind, failure.details, "%s", failure.message);
    } else if (json_is_none(result)) {
        exec_fail_with(step, "lua", &lua->error);
    } else {
        step_succeed(step, result);
    }
}

static void exec_lua_start(Step *step) {
    void **slot = step_kind_data(step, KIND_LUA);
    if (!*slot) *slot = lua_new();
    if (*slot) {
        run(*slot, step);
    } else {
        step_fail(step, "lua", json_none(), "Lua could not be started: there is no memory for it.");
    }
}

const NodeWork exec_lua = {.pure = true, .start = exec_lua_start, .free_data = exec_lua_free};
