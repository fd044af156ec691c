/* The work of a lua node: runs the code and gives back what it returns.
 *
 * The code sees `state`, the variables in scope by their names, `null`, `array(t)` (a table that is
 * an array even when it is empty), `copy(v)` (a part of the state as tables that can be changed)
 * and print(), which writes to the node's log; of Lua's own: the basic functions that cannot load
 * code, and string, table, math and utf8. Nothing in it reaches files, the clock or the
 * environment. Code that returns nothing changes nothing.
 *
 * One interpreter serves the lua nodes of an engine, with compiled chunks kept by their text. What
 * one step does cannot be seen by the next: each has a new table of globals into which functions
 * and libraries are copied when they are first named, and metatables of ours cannot be reached.
 *
 * Code runs in a coroutine of the interpreter and gives the loop back where the turn is over. The
 * interpreter is the step's own until it has ended; others that run meanwhile have other ones (LuaPool).
 * So is the time that it takes to collect what a large step leaves: the step ends after it.
 *
 * What the code may use is bounded by a meter (lua_meter.h), which the functions that it can call
 * keep to as well (lua_library.h). */
#include "exec.h"
#include "json_breath.h"
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
    MEMORY_LARGE = 1 << 20, /* code that has more may give back much */
    MEMORY_TIDY = 8 << 20,  /* garbage is collected after a step that leaves more than this */
    CHUNKS_MAX = 256,       /* kept compiled; past it all are forgotten */
    MESSAGE_MAX = 1000,     /* bytes of what went wrong */
    PRINT_COST = 1000,      /* instructions, besides one a byte: it bounds the log */
    BUSY_MAX = 64,          /* steps that are under way at once; the others wait for their turn */
    IDLE_MAX = 4,           /* interpreters that are kept for later */
    GC_STEP_KB = 64,
};

typedef struct Failure Failure;

typedef struct Lua {
    LuaMeter meter; /* the first: lua_of() relies on it */
    lua_State *L;
    lua_State *code; /* the coroutine; NULL: the last one was left in the midst of its code */
    LuaViews views;
    int nchunks;
    struct Lua *next; /* among those that are idle */
    /* of the step that runs */
    Fiber *fiber; /* where it has given way; NULL: it does not run on one, or has ended there */
    bool apart;   /* it runs on one */
    int resumed, nresults; /* what lua_resume() gave */
    size_t lines,
        told;    /* that it printed since it began; that are in the log from before it began anew */
    Step *step;  /* while it has its turn */
    int status;  /* of its code, once that has ended */
    int tidying; /* cycles of the collector that are to come */
    Json result;
    Error error;     /* of the result, when it is none that JSON has */
    Failure *failed; /* NULL: it has not */
} Lua;

/* In the slot of the kind. */
typedef struct LuaPool {
    Lua *idle;
    int nidle, nbusy;
} LuaPool;

static Lua *lua_of(lua_State *L) {
    return *(Lua **)lua_getextraspace(L);
}

/* ---- the interpreter ---- */

/* Their addresses are keys of the registry. */
static const char chunks_key, globals_key, code_key;

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
    Lua *lua = lua_of(L);
    if (++lua->lines <= lua->told) return 0;
    lua->told = lua->lines;
    step_log(lua->step, "log", text, len);
    lua_meter_charge(L, PRINT_COST + len);
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

static void lua_free(Lua *lua) {
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
        lua_free(lua);
        return NULL;
    }
    return lua;
}

/* ---- those that there are ---- */

static int make_code(lua_State *L) {
    lua_of(L)->code = lua_newthread(L);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &code_key);
    return 0;
}

/* Makes a coroutine to run code in, if the last one is gone; false: there is no memory for it. */
static bool has_code(Lua *lua) {
    if (lua->code) return true;
    lua_pushcfunction(lua->L, make_code);
    return lua_pcall(lua->L, 0, 0, 0) == LUA_OK;
}

/* One with a coroutine to run code in; NULL: there is no memory for it. */
static Lua *pool_take(LuaPool *pool) {
    Lua *lua = pool->idle;
    if (lua) {
        pool->idle = lua->next;
        pool->nidle--;
    } else {
        lua = lua_new();
    }
    if (lua && !has_code(lua)) {
        lua_free(lua);
        lua = NULL;
    }
    pool->nbusy += lua != NULL;
    return lua;
}

static void pool_give(LuaPool *pool, Lua *lua) {
    pool->nbusy--;
    if (pool->nidle == IDLE_MAX) {
        lua_free(lua);
        return;
    }
    lua->next = pool->idle;
    pool->idle = lua;
    pool->nidle++;
}

static void exec_lua_free(void *data) {
    LuaPool *pool = data;
    for (Lua *lua = pool->idle, *next; lua; lua = next) {
        next = lua->next;
        lua_free(lua);
    }
    mem_free(pool);
}

/* ---- one step, in the coroutine ---- */

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

/* The code has ended: its results, or what it raised, are above `before`. */
static int code_ended(lua_State *L, int status, lua_KContext before) {
    lua_of(L)->status = status == LUA_YIELD ? LUA_OK : status;
    return lua_gettop(L) - (int)before;
}

static int run_step(lua_State *L) {
    Lua *lua = lua_of(L);
    lua_names_reset(L);
    push_chunk(L, lua, step_param(lua->step, LUA_CODE)->value);
    const Node *node = step_node(lua->step);
    lua_createtable(L, 0, 8); /* its globals */
    lua_json_hold(&lua->views, step_state(lua->step));
    lua_json_push(L, step_state(lua->step));
    lua_setfield(L, -2, "state");
    lua_pushlightuserdata(L, NULL);
    lua_setfield(L, -2, "null");
    for (size_t i = 0; i < node->nvars; i++) {
        lua_json_hold(&lua->views, step_var(lua->step, i));
        lua_json_push(L, step_var(lua->step, i));
        lua_setfield(L, -2, node->vars[i]);
    }
    lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
    lua_setmetatable(L, -2);
    lua_setupvalue(L, -2, 1);
    int before = lua_gettop(L) - 1;
    lua_meter_start(&lua->meter, L);
    return code_ended(L, lua_pcallk(L, 0, LUA_MULTRET, 0, before, code_ended), before);
}

/* ---- how it ended ---- */

/* Gathered before the interpreter is tidied. */
struct Failure {
    const char *kind;
    Json details;
    char message[MESSAGE_MAX];
};

static Failure *describe(const Lua *lua, int status) {
    Failure *f = mem_zalloc(sizeof *f);
    f->kind = "lua";
    if (lua->meter.over || status == LUA_ERRMEM) {
        const char *over = lua->meter.over;
        f->kind = "limit";
        snprintf(f->message, sizeof f->message, "The code %s and was ended.",
                 over ? over : "needed more than 64 MB of memory");
    } else if (lua_type(lua->code, -1) == LUA_TSTRING) { /* "lua:3: message" */
        const char *message = lua_tostring(lua->code, -1);
        int line, skip = 0;
        if (sscanf(message, "lua:%d: %n", &line, &skip) == 1 && skip) {
            line += step_param(lua->step, LUA_CODE)->line - 1; /* of the file */
            f->details = OBJECT(KEY("line", json_int(line)));
            snprintf(f->message, sizeof f->message, "Line %d: %s", line, message + skip);
        } else {
            snprintf(f->message, sizeof f->message, "%s", message);
        }
    } else { /* error({code = 7}): the value goes along, as far as it is one */
        char text[JSON_DESCRIBE_MAX] = "a value that JSON has not";
        Json value = lua_json_get(lua->code, -1, NULL);
        if (!json_is_none(value)) {
            json_describe(value, text);
            f->details = OBJECT(KEY("value", value));
        }
        snprintf(f->message, sizeof f->message, "The code raised %s", text);
    }
    return f;
}

/* What came of the code, as far as it can be had only now. */
static void take_result(Lua *lua, int status, int n) {
    lua_State *code = lua->code;
    lua_meter_stop(&lua->meter);
    status = status == LUA_OK ? lua->status : status;
    if (status != LUA_OK) {
        lua->failed = describe(lua, status);
    } else if (n) {
        lua->result = lua_json_get(code, lua_gettop(code) - n + 1, &lua->error);
    } else { /* it changes nothing; where its result has a name, that is null */
        lua->result = json_is_none(step_node(lua->step)->output) ? json_object() : json_null();
    }
}

/* Nothing that the code has made is wanted any more. */
static void leave_code(Lua *lua, bool whole) {
    if (whole) {
        lua_settop(lua->code, 0);
    } else {
        lua->code = NULL; /* and is garbage with the next one */
    }
    lua_json_release(&lua->views);
    lua->tidying = lua->meter.bytes > MEMORY_TIDY ? 2 : 0; /* the first may be under way */
}

static void end_step(LuaPool *pool, Lua *lua, Step *step) {
    Json result = json_take(&lua->result);
    Failure *failed = lua->failed;
    bool late = lua->meter.late;
    Error error = lua->error;
    lua->failed = NULL;
    lua->step = NULL;
    step_set_data(step, NULL);
    pool_give(pool, lua);
    if (failed && late) {
        json_unref(failed->details);
        exec_fail_late(step);
    } else if (failed) {
        step_fail(step, failed->kind, failed->details, "%s", failed->message);
    } else if (json_is_none(result)) {
        exec_fail_with(step, "lua", &error);
    } else {
        step_succeed(step, result);
    }
    mem_free(failed);
}

/* ---- slices ---- */

static void end_code(void *ctx) {
    Lua *lua = ctx;
    if (!lua->meter.wants_fiber) take_result(lua, lua->resumed, lua->nresults);
    leave_code(lua, lua->resumed == LUA_OK);
}

static bool go_on_apart(Lua *lua);

/* The code, until its slice is over or it has ended; what came of it then: that may take long, too. */
static bool run_code(Lua *lua) {
    lua->resumed = lua_resume(lua->code, lua->L, 0, &lua->nresults);
    if (lua->resumed == LUA_YIELD) return false;
    if (!lua->fiber && lua->meter.bytes > MEMORY_LARGE && !lua->meter.wants_fiber) {
        lua->fiber = fiber_new(end_code, lua);
        return go_on_apart(lua);
    }
    end_code(lua);
    return true;
}

static void run_on_fiber(void *ctx) {
    Lua *lua = ctx;
    while (!run_code(lua)) fiber_give_way(lua->fiber);
}

/* What takes long in C, and is none of Lua's, looks for itself: the result as JSON. */
static void breathe(void *ctx) {
    const Lua *lua = ctx;
    if (lua->meter.slice_end && uv_hrtime() >= lua->meter.slice_end) fiber_give_way(lua->fiber);
}

/* Whether it has ended. */
static bool go_on_apart(Lua *lua) {
    json_breath = (JsonBreath){breathe, lua, 0};
    bool ended = fiber_resume(lua->fiber);
    json_breath = (JsonBreath){0};
    if (!ended) return false;
    fiber_free(lua->fiber);
    lua->fiber = lua->meter.fiber = NULL;
    return true;
}

static bool begin_code(Lua *lua) {
    lua->meter.over = NULL;
    lua->meter.late = lua->meter.wants_fiber = false;
    lua->meter.instructions = 0;
    lua->lines = 0;
    error_clear(&lua->error);
    if (!has_code(lua)) return false;
    lua_pushcfunction(lua->code, run_step);
    if (lua->apart) lua->fiber = lua->meter.fiber = fiber_new(run_on_fiber, lua);
    return true;
}

/* Whether the collector is through. */
static bool tidy(Lua *lua, uint64_t slice_end) {
    while (lua->tidying && (!slice_end || uv_hrtime() < slice_end)) {
        lua->tidying -= lua_gc(lua->L, LUA_GCSTEP, GC_STEP_KB);
    }
    return !lua->tidying;
}

static void exec_lua_go_on(Step *step) {
    LuaPool *pool = *step_kind_data(step, KIND_LUA);
    Lua *lua = step_data(step);
    uint64_t slice_end = step_turn_end(step);
    bool begins = !lua;
    if (begins && pool->nbusy >= BUSY_MAX) {
        step_took_long(step);
        return; /* when others have ended */
    }
    if (begins) {
        lua = pool_take(pool);
        if (!lua) {
            step_fail(step, "lua", json_none(),
                      "Lua could not be started: there is no memory for it.");
            return;
        }
        step_set_data(step, lua);
        lua->apart = false;
        lua->told = 0;
        begin_code(lua);
    }
    lua->step = step;
    if (!lua->tidying) {
        lua_meter_slice(&lua->meter, slice_end, step_deadline(step));
        bool ended = lua->fiber ? go_on_apart(lua) : run_code(lua);
        if (ended && lua->meter.wants_fiber) {
            lua->tidying = 0;
            lua->apart = true;
            lua_meter_stop(&lua->meter);
            ended = !begin_code(lua);
            if (ended) lua->failed = describe(lua, LUA_ERRMEM);
        }
        if (!ended) {
            step_took_long(step);
            return;
        }
    }
    bool tidied = tidy(lua, slice_end);
    if (lua->meter.instructions) step_took_long(step);
    if (tidied) end_step(pool, lua, step);
}

static void exec_lua_start(Step *step) {
    void **slot = step_kind_data(step, KIND_LUA);
    if (!*slot) *slot = mem_zalloc(sizeof(LuaPool));
    exec_lua_go_on(step);
}

static void exec_lua_drop(Step *step) {
    Lua *lua = step_data(step);
    if (!lua) return;
    if (lua->fiber) { /* it ends at its next instruction */
        lua->step = step;
        lua_meter_end(&lua->meter);
        while (!go_on_apart(lua)) continue;
    } else if (!lua->tidying) {
        leave_code(lua, false);
    }
    lua_meter_stop(&lua->meter);
    lua->tidying = 0; /* that comes with the next one */
    json_clear(&lua->result);
    if (lua->failed) json_unref(lua->failed->details);
    mem_free(lua->failed);
    lua->failed = NULL;
    pool_give(*step_kind_data(step, KIND_LUA), lua);
}

/* ---- before anything runs ---- */

/* What Lua's compiler has to say of a piece of code: the line of it, and a sentence. */
static bool code_is_fine(lua_State *L, const Node *node, int *line, Buf *sentence) {
    Json code = node->params[LUA_CODE].value;
    int first = node->params[LUA_CODE].line, skip = 0;
    if (luaL_loadbufferx(L, json_string_data(&code), json_string_len(code), "=lua", "t") ==
        LUA_OK) {
        lua_settop(L, 0);
        return true;
    }
    const char *message = lua_tostring(L, -1);
    bool placed = sscanf(message, "lua:%d: %n", line, &skip) == 1 && skip;
    *line = placed ? first + *line - 1 : first;
    buf_printf(sentence, "This is no Lua: %s.", message + (placed ? skip : 0));
    for (size_t i = 0; i < sentence->len; i++) {
        if ((unsigned char)sentence->data[i] < ' ') sentence->data[i] = ' ';
    }
    lua_settop(L, 0);
    return false;
}

void exec_check_code(const Flow *flow, FlowProblems *problems) {
    lua_State *L = NULL;
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            int line;
            Buf sentence = BUF_INIT;
            while (node_body(node)) node = node_body(node);
            if (node->kind->id != KIND_LUA) continue;
            L = L ? L : luaL_newstate();
            if (L && !code_is_fine(L, node, &line, &sentence)) {
                const Param *code = &node->params[LUA_CODE];
                flow_problem_add(flow, problems, node->file, line,
                                 line == code->line ? code->col : 0, sentence.data);
            }
            buf_clear(&sentence);
        }
    }
    if (L) lua_close(L);
}

const NodeWork exec_lua = {.pure = true,
                           .start = exec_lua_start,
                           .go_on = exec_lua_go_on,
                           .drop = exec_lua_drop,
                           .free_data = exec_lua_free};
