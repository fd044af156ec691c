#include "stores.h"

#include "buf.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool common_option(Common *c, const Option *option, char **values) {
    if (!option || (option->id != OPTION_STORE && option->id != OPTION_JSON)) {
        return false;
    }
    if (option->id == OPTION_STORE) {
        c->store = values[0];
    } else {
        c->json = true;
    }
    return true;
}

const char *cli_store_url(const char *given) {
    const char *env = getenv("PAWL_STORE");
    return given ? given : env && env[0] ? env : DEFAULT_STORE;
}

const char *cli_store_hint(const char *given) {
    return given && strcmp(given, cli_store_url(NULL)) != 0 ? given : NULL;
}

char *cli_store_configured(const Graph *graph) {
    const char *kind = graph->checkpointer, *dir = graph->checkpoint_dir;
    Buf url = BUF_INIT;
    if (!kind && !dir) {
        return NULL;
    }
    if (kind && !strcmp(kind, "memory") && !dir) { /* a folder is where it is to be found again */
        buf_adds(&url, "memory:");
    } else if (kind && !strcmp(kind, "sqlite")) {
        buf_printf(&url, dir ? "sqlite:%s/pawl.db" : DEFAULT_STORE, dir);
    } else {
        buf_printf(&url, "file:%s", dir ? dir : ".pawl/checkpoints");
    }
    return buf_detach(&url);
}

int cli_fail(const Command *command, const Error *err) {
    fflush(stdout);
    terminal_say(stderr, "pawl %s: %s\n", command->name, err->msg);
    return err->code == ERR_USAGE || err->code == ERR_SYNTAX ? EXIT_USAGE : EXIT_FAILED_RUN;
}

Store *cli_store_open(const Common *c, StoreMode mode, int *code) {
    Error err = ERROR_INIT;
    Store *store = store_open(cli_store_url(c->store), mode, &err);
    if (!store) {
        *code = cli_fail(c->command, &err);
    }
    return store;
}

Store *cli_store_look(const Common *c, int *code) {
    Store *store = store_open(cli_store_url(c->store), STORE_EXISTING, NULL);
    return store ? store : cli_store_open(c, STORE_READ, code);
}

bool cli_find(const Common *c, Store *store, const char *thread, RunRow *row, int *code) {
    Error err = ERROR_INIT;
    if (store_find(store, thread, row, &err)) {
        return true;
    }
    *code = cli_fail(c->command, &err);
    return false;
}

const char *cli_run_status(Store *store, const RunRow *row) {
    bool gone = !strcmp(row->status, "running") && !store_is_leased(store, row->run);
    return gone ? "stopped" : row->status;
}

Json cli_run_owner(Store *store, const RunRow *row) {
    bool owned = row->owner && row->owner[0] && store_is_leased(store, row->run);
    return owned ? json_string_c(row->owner) : json_null();
}
