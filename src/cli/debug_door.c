#include "debug_door.h"

/* ---- in this process ---- */

static Json call_debugging(void *self, const char *operation, Json args, Error *err) {
    return debugging_call(self, operation, args, err);
}

static void close_debugging(void *self) {
    debugging_leave(self);
}

static const DoorWay to_debugging = {call_debugging, close_debugging, false};

Door door_to_debugging(Debugging *debugging) {
    return (Door){&to_debugging, debugging};
}

/* ---- in another ---- */

static Json call_run(void *self, const char *operation, Json args, Error *err) {
    return attach_call(self, operation, args, err);
}

static void close_run(void *self) {
    attach_leave(self);
}

static const DoorWay to_run = {call_run, close_run, true};

bool door_to_run(Door *door, uv_loop_t *loop, Store *store, int64_t run, const DoorHost *host,
                 Error *err) {
    Attach *attach = attach_connect(loop, store, run, host->event, host->closed, host->ctx, err);
    *door = attach ? (Door){&to_run, attach} : (Door){0};
    return attach != NULL;
}

/* ---- both ---- */

Json door_call(Door *door, const char *operation, Json args, Error *err) {
    if (!door->way) {
        json_unref(args);
        error_set(err, ERR_USAGE, "The debug session is over.");
        return json_none();
    }
    return door->way->call(door->self, operation, args, err);
}

Json door_ask(Door *door, const char *operation, Error *err) {
    return door_call(door, operation, json_none(), err);
}

bool door_is_remote(const Door *door) {
    return door->way && door->way->remote;
}

void door_close(Door *door) {
    if (door->way) {
        door->way->close(door->self);
    }
    *door = (Door){0};
}
