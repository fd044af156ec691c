/* JSON values as Lua sees them, without a node around them. */
#include "json_test.h"
#include "lua_json.h"
#include "lua_meter.h"

#include <lauxlib.h>
#include <stdlib.h>

enum { FEW_BYTES = 2 << 20 };

static size_t used;

/* A memory that is soon full. */
static void *allocate(void *ctx, void *p, size_t old, size_t size) {
    (void)ctx;
    old = p ? old : 0;
    if (size > old && used + size - old > FEW_BYTES) return NULL;
    used = used - old + size;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

static void code_that_only_reads_is_not_short_of_memory(void **state) {
    (void)state;
    LuaViews views = {0};
    Json value = parse("{\"a\": {\"b\": [1]}}");
    used = 0;
    lua_State *L = lua_newstate(allocate, NULL);
    lua_json_open(L, &views);
    lua_json_hold(&views, value);
    lua_json_push(L, value);
    lua_setglobal(L, "state");
    if (luaL_dostring(L, "local n = 0 for i = 1, 200000 do n = n + #state.a.b end return n")) {
        fail_msg("%s", lua_tostring(L, -1));
    }
    assert_int_equal(lua_tointeger(L, -1), 200000);
    lua_json_release(&views);
    lua_close(L);
    json_unref(value);
}

static void what_was_let_go_of_is_null(void **state) {
    (void)state;
    LuaViews views = {0};
    Json value = parse("{\"a\": {\"b\": [1]}}");
    lua_State *L = luaL_newstate();
    lua_json_open(L, &views);
    lua_json_hold(&views, value);
    lua_json_push(L, value);
    json_unref(value);
    lua_setglobal(L, "state");
    assert_int_equal(luaL_dostring(L, "kept = state.a return kept.b[1]"), LUA_OK);
    assert_int_equal(lua_tointeger(L, -1), 1);
    lua_json_release(&views);
    assert_int_equal(luaL_dostring(L, "return kept.b"), LUA_OK);
    assert_true(lua_isnil(L, -1));
    lua_getglobal(L, "kept");
    assert_int_equal(json_kind(lua_json_get(L, -1, NULL)), JSON_NULL);
    lua_close(L);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        JSON_TEST(code_that_only_reads_is_not_short_of_memory),
        JSON_TEST(what_was_let_go_of_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
