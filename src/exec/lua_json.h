/* lua_json.h - JSON values as Lua sees them, and back.
 *
 * Arrays and objects are not copied into Lua: code gets a view of them, a userdata that looks like
 * a table which cannot be written (a[1], o.key, #a, pairs, ipairs). So a large state costs what is
 * read of it, and a view that is given back is the same value again, shared and not copied. Arrays
 * start at 1, as tables do. null is the value `null`, since nil would make its key vanish.
 *
 * On the way back a table with the keys 1..n is an array, as is one that array() has marked, with null where it
 * has nothing; any other is an object, its keys sorted because Lua keeps no order of its own.
 */
#ifndef PAWL_LUA_JSON_H
#define PAWL_LUA_JSON_H

#include "error.h"
#include "json.h"

#include <lua.h>

enum {
    LUA_JSON_DEPTH = 100,        /* nesting of what is given back */
    LUA_JSON_BYTES = 64 << 20,   /* its size, shared parts counted each time */
    LUA_JSON_TEXT_MAX = 1 << 20, /* of a view as text */
};

/* What is held outside Lua's memory for a state; all zero before lua_json_open(). */
typedef struct LuaViews {
    Json held;     /* an array: what views may be of; JSON_NONE: nothing */
    uint64_t step; /* how often that was let go of */
    Buf text; /* of the last value that was made a text: an error raised meanwhile cannot lose it */
} LuaViews;

/* Once for a state: makes the metatables. Raises. */
void lua_json_open(lua_State *L, LuaViews *views);

/* Keeps a value until lua_json_release(). */
void lua_json_hold(LuaViews *views, Json value);
/* Pushes the value, which is held, or a part of one that is. Raises. */
void lua_json_push(lua_State *L, Json value);

/* The value at an index; JSON_NONE with *err set when it is none that JSON has. Does not raise. */
Json lua_json_get(lua_State *L, int index, Error *err);

/* Lets go of what is held, wherever Lua still has them: they are null from then on. */
void lua_json_release(LuaViews *views);

/* For the functions that the code calls. */
bool lua_json_is_view(lua_State *L, int index);
bool lua_json_is_marked(lua_State *L, int index); /* by array() */
int lua_json_array(lua_State *L);                 /* array(t): marks t, or a new table */
int lua_json_copy(lua_State *L);                  /* copy(v): a view as tables of its own */

#endif
