#include "servers.h"

#include "ascii.h"
#include "json_build.h"
#include "kept.h"
#include "mem.h"
#include "options.h"
#include "safe_file.h"
#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- which ---- */

const char *cli_server(const Common *c) {
    const char *env = getenv("PAWL_SERVER");
    if (c->here || c->store) return NULL;
    return c->server ? c->server : env && env[0] ? env : NULL;
}

bool cli_place_is_sensible(const Common *c) {
    if (c->server && c->store) {
        return options_complain(c->command,
                                "--server and --store do not go together: a server has a store of "
                                "its own.");
    }
    return !c->ca || cli_server(c) ||
           options_complain(c->command, "--ca is about a server, and none is asked.");
}

bool cli_is_here(const Common *c, const char *what) {
    const char *server = cli_server(c);
    if (!server) return true;
    return options_complain(c->command,
                            "%s works on this machine alone, and not at the server %s%s. Do it "
                            "where the server runs, or name a store with --store.",
                            what, server, c->server ? "" : " (PAWL_SERVER)");
}

/* ---- what is kept ---- */

char *server_login_folder(void) {
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    Buf path = BUF_INIT;
    if (config && *config == '/') {
        buf_printf(&path, "%s/pawl", config);
    } else if (home && *home == '/') {
        buf_printf(&path, "%s/.config/pawl", home);
    } else {
        return NULL;
    }
    return buf_detach(&path);
}

static KeptFile file_in(const char *folder) {
    return (KeptFile){.folder = folder,
                      .name = "servers",
                      .what = "The file with the tokens of servers",
                      .max = 1 << 20,
                      .format = 1,
                      .shape = "{format: int, servers: [{url: text, token: text, ca?: text, "
                               "plain?: bool}]}"};
}

/* As it is kept: the scheme and the host in small letters, without slashes at the end. */
static Json name_of(const char *url) {
    size_t len = strlen(url), path = 0;
    const char *slashes = strstr(url, "://");
    Buf out = BUF_INIT;
    while (len && url[len - 1] == '/') len--;
    if (slashes) path = (size_t)(slashes - url) + 3 + strcspn(slashes + 3, "/");
    for (size_t i = 0; i < len; i++) buf_addc(&out, i < path ? ascii_lower(url[i]) : url[i]);
    Json name = json_string(out.data ? out.data : "", out.len);
    buf_clear(&out);
    return name;
}

static bool is_of(Json entry, Json name) {
    return json_string_equal(json_object_get_c(entry, "url"), name);
}

bool server_login_find(const char *url, ServerLogin *out, Error *err) {
    Error why = ERROR_INIT;
    char *folder = server_login_folder();
    KeptFile file = file_in(folder);
    Json all = folder ? kept_read(&file, &why) : json_none(), name = name_of(url);
    Json list = json_is_none(all) ? all : json_object_get_c(all, "servers");
    *out = (ServerLogin){0};
    for (size_t i = 0; json_kind(list) == JSON_ARRAY && i < json_array_len(list); i++) {
        Json entry = json_array_get(list, i);
        if (!is_of(entry, name)) continue;
        server_login_clear(out);
        *out = (ServerLogin){.token = mem_strdup(json_object_text(entry, "token")),
                             .ca = mem_strdup(json_object_text(entry, "ca")),
                             .plain = json_truthy(json_object_get_c(entry, "plain"))};
    }
    json_unref(name);
    json_unref(all);
    mem_free(folder);
    if (why.code != ERR_NONE && err) *err = why;
    return why.code == ERR_NONE;
}

typedef struct Changing {
    Json name, entry; /* entry: JSON_NONE: it goes */
    bool was;
} Changing;

static Json change(void *ctx, Json old, Error *err) {
    Changing *c = ctx;
    Json list = json_is_none(old) ? json_none() : json_object_get_c(old, "servers");
    Json left = json_array();
    (void)err;
    for (size_t i = 0; json_kind(list) == JSON_ARRAY && i < json_array_len(list); i++) {
        Json entry = json_array_get(list, i);
        if (is_of(entry, c->name)) {
            c->was = true;
        } else {
            left = json_array_push(left, json_ref(entry));
        }
    }
    if (!json_is_none(c->entry)) left = json_array_push(left, json_ref(c->entry));
    return OBJECT(KEY("format", json_int(1)), KEY("servers", left));
}

/* The folder of settings, and the one that it is in. */
static bool make_folders(const char *folder, Error *err) {
    char *parent = mem_strdup(folder);
    *strrchr(parent, '/') = '\0';
    mkdir(parent, 0700);
    mem_free(parent);
    int fd = safe_folder_make(AT_FDCWD, folder, NULL, err);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* Consumes the entry. */
static bool change_kept(const char *url, Json entry, bool *was, Error *err) {
    char *folder = server_login_folder();
    Changing changing = {name_of(url), entry, false};
    KeptFile file = file_in(folder);
    bool ok =
        folder || error_set(err, ERR_IO, "There is no folder to keep tokens in: HOME says none.");
    ok = ok && make_folders(folder, err) && kept_change(&file, change, &changing, err);
    *was = changing.was;
    json_unref(changing.name);
    json_unref(entry);
    mem_free(folder);
    return ok;
}

bool server_login_keep(const char *url, const ServerLogin *login, Error *err) {
    bool was;
    return change_kept(url,
                       OBJECT(KEY("url", name_of(url)), KEY("token", login->token),
                              KEY("ca", login->ca),
                              KEY("plain", login->plain ? json_bool(true) : json_none())),
                       &was, err);
}

bool server_login_remove(const char *url, bool *was, Error *err) {
    return change_kept(url, json_none(), was, err);
}

void server_login_clear(ServerLogin *login) {
    if (login->token) explicit_bzero(login->token, strlen(login->token));
    mem_free(login->token);
    mem_free(login->ca);
    *login = (ServerLogin){0};
}
