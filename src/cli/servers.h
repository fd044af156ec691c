/* servers.h - the servers that commands ask instead of doing their work here, and the tokens that are kept for them.
 *
 * A command asks a server when --server names one, or $PAWL_SERVER and no --store. Which token it shows is $PAWL_TOKEN, or
 * what `pawl login` has kept: in the file `servers` of ~/.config/pawl, which nobody else can read.
 */
#ifndef PAWL_SERVERS_H
#define PAWL_SERVERS_H

#include "client.h"
#include "stores.h"

#define SERVER_ROW                                                                         \
    {                                                                                      \
        "server", 0, "URL",                                                                \
            "a server (`pawl serve`) that does it in place of this process, as "           \
            "https://pawl.example.org ($PAWL_SERVER unless told, if there is no --store)", \
            TAKES(OPTION_TEXT, Common, server)                                             \
    }
#define CA_ROW                                                                                    \
    {                                                                                             \
        "ca", 0, "FILE", "the certificates in PEM to trust of a server, instead of the system's", \
            TAKES(OPTION_TEXT, Common, ca), .completes = COMPLETE_FILE                            \
    }
#define SERVER_ROWS SERVER_ROW, CA_ROW

/* The URL of the server that a command asks; NULL: it works here. */
const char *cli_server(const Common *c);

/* Whether the words about where do not contradict each other; false after saying so. */
bool cli_place_is_sensible(const Common *c);

/* False after saying that a server does not do that (`what`: "`store compact`"), when the command would ask one. */
bool cli_is_here(const Common *c, const char *what);

/* What is kept of a server. */
typedef struct ServerLogin {
    char *token, *ca;
    bool plain; /* it goes over plain http to another machine */
} ServerLogin;

/* What is known of one, empty where that is nothing; false with a sentence. */
bool server_login_find(const char *url, ServerLogin *out, Error *err);
bool server_login_keep(const char *url, const ServerLogin *login, Error *err);
/* *was: there was one. */
bool server_login_remove(const char *url, bool *was, Error *err);
void server_login_clear(ServerLogin *login);

/* Where they are kept, given; NULL: it cannot be known. */
char *server_login_folder(void);

#endif
