#include "asking.h"

#include "json_build.h"
#include "output.h"
#include "terminal.h"

#include <stdlib.h>
#include <unistd.h>

void asking_begin_as(Asking *a, const Common *common, const ServerLogin *login) {
    *a = (Asking){.common = common};
    uv_loop_init(&a->loop);
    a->client = client_new(&(ClientOptions){.loop = &a->loop,
                                            .server = cli_server(common),
                                            .token = login->token,
                                            .ca_file = common->ca ? common->ca : login->ca,
                                            .plain = login->plain});
}

/* A token in the environment goes before the one that is kept. Tokens that cannot be read are as good as none: the server
 * says whether it needs one. */
static void begin_asking_server(Asking *a, const Common *common) {
    const char *token = getenv("PAWL_TOKEN");
    ServerLogin login;
    Error err = ERROR_INIT;
    if (!server_login_find(cli_server(common), &login, &err)) {
        terminal_say(stderr, "pawl %s: %s\n", common->command->name, err.msg);
    }
    ServerLogin used = login;
    if (token && token[0]) used.token = (char *)token;
    asking_begin_as(a, common, &used);
    server_login_clear(&login);
}

void asking_begin(Asking *a, const Common *common) {
    if (cli_server(common)) {
        begin_asking_server(a, common);
    } else {
        asking_begin_serving(a, common, &(ServingPlace){0});
    }
}

static Client *client_here(uv_loop_t *loop, const Common *common, const ServingPlace *place,
                           const char *store) {
    extern char **environ;
    char *folder = place->folder ? realpath(safe_root_name(place->folder), NULL) : getcwd(NULL, 0);
    ClientOptions options = {.loop = loop,
                             .store = store,
                             .folder = folder,
                             .environment = environ,
                             .names = common->env,
                             .bounds = {.root = place->folder ? place->folder : common->root,
                                        .net = common->net,
                                        .kinds = place->kinds,
                                        .apart = place->apart,
                                        .inside = place->folder},
                             .secrets = common->secrets,
                             .key_file = common->key_file,
                             .workflows = place->workflows};
    Client *client = client_new(&options);
    free(folder);
    return client;
}

void asking_begin_serving(Asking *a, const Common *common, const ServingPlace *place) {
    *a = (Asking){.common = common};
    uv_loop_init(&a->loop);
    a->client = client_here(&a->loop, common, place, cli_store_url(common->store));
}

Client *asking_client(uv_loop_t *loop, const Common *common, const char *store) {
    return client_here(loop, common, &(ServingPlace){0}, store);
}

Client *asking_client_of_server(uv_loop_t *loop, const Common *common, const char *server,
                                Error *err) {
    const char *token = getenv("PAWL_TOKEN");
    ServerLogin login;
    if (!server_login_find(server, &login, err)) return NULL;
    Client *client = client_new(&(ClientOptions){.loop = loop,
                                                 .server = server,
                                                 .token = token && token[0] ? token : login.token,
                                                 .ca_file = common->ca ? common->ca : login.ca,
                                                 .plain = login.plain});
    server_login_clear(&login);
    return client;
}

int asking_end(Asking *a) {
    socket_close(a->server);
    client_free(a->client);
    uv_run(&a->loop, UV_RUN_DEFAULT);
    uv_loop_close(&a->loop);
    return a->code;
}

Json ask(Asking *a, const char *operation, Json args) {
    Error err = ERROR_INIT;
    Json answer = client_ask(a->client, operation, args, &err);
    if (json_is_none(answer)) a->code = cli_fail(a->common, &err);
    return answer;
}

static void ignore(void *ctx, Json answer, const Error *err) {
    (void)ctx;
    (void)err;
    json_unref(answer);
}

void asking_stop_run(Asking *a, const char *thread) {
    client_call(a->client, "run_stop", OBJECT(KEY("thread", thread)), ignore, NULL);
}

void asking_listen(Asking *a) {
    struct Host *host = client_host(a->client);
    if (host && !a->server) a->server = socket_listen(host, NULL);
}

int ask_and_show(const Common *common, const char *operation, Json args,
                 void (*show)(const void *command_args, Json answer)) {
    Asking a;
    asking_begin(&a, common);
    Json answer = ask(&a, operation, args);
    if (!json_is_none(answer) && common->json) {
        output_line(answer);
    } else if (!json_is_none(answer)) {
        show(common, answer);
    }
    json_unref(answer);
    return asking_end(&a);
}
