#define _GNU_SOURCE /* environ */
#include "engines.h"

#include "exec.h"

#include <unistd.h>

static void close_loop(uv_loop_t *loop) {
    uv_run(loop, UV_RUN_DEFAULT);
    uv_loop_close(loop);
}

bool cli_engine_open(CliEngine *e, EngineOptions options, Error *err) {
    int code = uv_loop_init(&e->loop);
    if (code) {
        return error_set(err, ERR_IO, "The event loop cannot be made: %s.", uv_strerror(code));
    }
    options.loop = &e->loop;
    options.work = exec_work;
    options.folder = getcwd(e->folder, sizeof e->folder);
    options.environment = environ;
    e->engine = engine_new(&options, err);
    if (!e->engine) {
        close_loop(&e->loop);
    }
    return e->engine != NULL;
}

void cli_engine_close(CliEngine *e) {
    engine_free(e->engine);
    e->engine = NULL;
    close_loop(&e->loop);
}
