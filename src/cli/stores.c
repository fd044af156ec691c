#include "stores.h"

#include "buf.h"
#include "json_build.h"
#include "json_error.h"
#include "output.h"
#include "servers.h"
#include "terminal.h"
#include "way_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_store_url(const char *given) {
    const char *env = getenv("PAWL_STORE");
    return given ? given : env && env[0] ? env : DEFAULT_STORE;
}

bool cli_store_is_durable(const Common *c) {
    return cli_server(c) || store_url_is_durable(cli_store_url(c->store));
}

/* Where $PAWL_SERVER is asked otherwise, a store is always named. */
const char *cli_store_hint(const Common *c) {
    const char *server = getenv("PAWL_SERVER");
    bool has_server = server && server[0] && !c->here;
    if (cli_server(c)) {
        return c->server && !(has_server && !strcmp(c->server, server)) ? c->server : NULL;
    }
    return c->store && (has_server || strcmp(c->store, cli_store_url(NULL)) != 0) ? c->store : NULL;
}

char *cli_store_configured(const Graph *graph) {
    const char *kind = graph->checkpointer, *dir = graph->checkpoint_dir;
    Buf url = BUF_INIT;
    if (!kind && !dir) return NULL;
    if (kind && !strcmp(kind, "memory") && !dir) { /* a folder is where it is to be found again */
        buf_adds(&url, "memory:");
    } else if (kind && !strcmp(kind, "sqlite")) {
        buf_printf(&url, dir ? "sqlite:%s/pawl.db" : DEFAULT_STORE, dir);
    } else {
        buf_printf(&url, "file:%s", dir ? dir : ".pawl/checkpoints");
    }
    return buf_detach(&url);
}

void cli_bounds_elsewhere(const Common *c) {
    const char *server = cli_server(c);
    bool any = !json_is_none(c->env) || c->net || c->secrets || c->key_file;
    if (!any && (server || !c->root)) return;
    if (server) { /* --root is about the files that are read here */
        terminal_say(stderr,
                     "pawl %s: what the run may reach is for the server to say; --env, --net, "
                     "--secrets and --key-file do nothing here.\n",
                     c->command->name);
        return;
    }
    fprintf(
        stderr,
        "pawl %s: another process has the run, so what it may reach is for that process to say; "
        "--env, --net, --root, --secrets and --key-file do nothing here.\n",
        c->command->name);
}

void cli_put_error(Json error) {
    Json answer = OBJECT(KEY("error", error));
    output_line(answer);
    json_unref(answer);
    fflush(stdout);
}

int cli_fail(const Common *c, const Error *err) {
    Buf sentence = BUF_INIT;
    if (c->json) cli_put_error(error_json(err));
    say_error(&sentence, err,
              &(Speaker){c->command->name, cli_store_hint(c), cli_server(c) != NULL});
    terminal_say(stderr, "pawl %s: %s\n", c->command->name, sentence.data);
    buf_clear(&sentence);
    switch (err->code) {
    case ERR_BUSY: return EXIT_BUSY;
    case ERR_IO:
    case ERR_DATA: return EXIT_STORE;
    default: return error_is_askers(err->code) ? EXIT_USAGE : EXIT_FAILED_RUN;
    }
}
