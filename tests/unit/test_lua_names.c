/* Names of Lua's values without addresses. */
#include "json_test.h"
#include "lua_names.h"

#include <lauxlib.h>
#include <lualib.h>

/* With tostring and string.format as a node has them. */
static lua_State *lua_up(void) {
    lua_State *L = luaL_newstate();
    luaL_openlibs(L);
    lua_register(L, "tostring", lua_names_tostring);
    lua_getglobal(L, "string");
    lua_getfield(L, -1, "format");
    lua_pushcclosure(L, lua_names_format, 1);
    lua_setfield(L, -2, "format");
    lua_settop(L, 0);
    return L;
}

static void expect(lua_State *L, const char *code, const char *want) {
    if (luaL_dostring(L, code) != LUA_OK) fail_msg("%s: %s", code, lua_tostring(L, -1));
    assert_string_equal(lua_tostring(L, -1), want);
    lua_settop(L, 0);
}

static void values_are_numbered_in_the_order_in_which_they_are_asked_for(void **state) {
    (void)state;
    lua_State *L = lua_up();
    expect(L, "t, f = {}, print; return tostring(f) .. ' ' .. tostring(t)", "function: 1 table: 2");
    expect(L, "return tostring(t)", "table: 2");
    expect(L, "return string.format('%s|%p|%5p|%d%%', t, t, f, 7)", "table: 2|2|    1|7%");
    lua_names_reset(L);
    expect(L, "return tostring(t)", "table: 1");
    lua_close(L);
}

static void other_values_are_as_lua_says_them(void **state) {
    (void)state;
    lua_State *L = lua_up();
    expect(L, "return tostring(nil) .. tostring(true) .. tostring(1.5) .. tostring('x')",
           "niltrue1.5x");
    expect(L, "return tostring(setmetatable({}, {__tostring = function() return 'mine' end}))",
           "mine");
    expect(L, "return tostring(setmetatable({}, {__name = 'thing'}))", "thing: 1");
    expect(L, "return string.format('%q %5.1f %x', 'a', 2, 255)", "\"a\"   2.0 ff");
    lua_close(L);
}

static void formats_that_are_wrong_are_refused_as_before(void **state) {
    (void)state;
    lua_State *L = lua_up();
    static const char *const wrong[] = {"%", "%y", "%s", "%123d", "%-+#0 %"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        lua_getglobal(L, "string");
        lua_getfield(L, -1, "format");
        lua_pushstring(L, wrong[i]);
        assert_int_equal(lua_pcall(L, 1, 1, 0), LUA_ERRRUN);
        lua_settop(L, 0);
    }
    lua_close(L);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_numbered_in_the_order_in_which_they_are_asked_for),
        cmocka_unit_test(other_values_are_as_lua_says_them),
        cmocka_unit_test(formats_that_are_wrong_are_refused_as_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
