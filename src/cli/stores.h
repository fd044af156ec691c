/* stores.h - the store that a command works on, and how its errors are said.
 *
 * Every command that touches runs takes --store URL and --json. Their rows are STORE_ROW and
 * JSON_ROW; what a command takes begins with a Common, which is where they go.
 */
#ifndef PAWL_STORES_H
#define PAWL_STORES_H

#include "command.h"
#include "error.h"
#include "flow.h"
#include "store.h"

#include <stdbool.h>

#define DEFAULT_STORE "sqlite:.pawl/pawl.db"

#define STORE_ROW                                                                            \
    {                                                                                        \
        "store", 0, "URL",                                                                   \
            "where the runs are kept: sqlite:PATH, file:DIR or memory: ($PAWL_STORE unless " \
            "told, or else sqlite:.pawl/pawl.db)",                                           \
            TAKES(OPTION_TEXT, Common, store)                                                \
    }
#define JSON_ROW(help) \
    { "json", 0, NULL, help, TAKES(OPTION_FLAG, Common, json) }

/* What the runs that this process holds may reach. */
#define ENV_ROW(otherwise)                                                                         \
    {                                                                                              \
        "env", 0, "NAMES",                                                                         \
            "variables that what a run starts inherits, besides PATH, HOME, LANG, TZ and TMPDIR; " \
            "NAME* for all that begin so; " otherwise " unless told; may be given many times",     \
            TAKES(OPTION_NAMES, Common, env)                                                       \
    }
#define NET_ROW(any, public)                                                               \
    {                                                                                      \
        "net", 0, "any|public|LIST",                                                       \
            "where requests of http, model and check nodes may go: any address" any        \
            ", public ones" public ", or hosts and ranges, as api.example.org,10.0.0.0/8", \
            TAKES(OPTION_NET, Common, net)                                                 \
    }
#define ROOT_ROW                                                                      \
    {                                                                                 \
        "root", 0, "DIR",                                                             \
            "the folder that workflows, their parts and their scripts have to be in", \
            TAKES(OPTION_ROOT, Common, root), .completes = COMPLETE_FILE              \
    }
#define SECRETS_ROW                                                                              \
    {                                                                                            \
        "secrets", 0, "DIR", "a folder with a file for each secret that workflows use, by name", \
            TAKES(OPTION_TEXT, Common, secrets), .completes = COMPLETE_FILE                      \
    }
#define KEY_FILE_ROW                                                                    \
    {                                                                                   \
        "key-file", 0, "FILE",                                                          \
            "the key of the secrets in the store ($PAWL_KEY_FILE unless told, or else " \
            "~/.config/pawl/key)",                                                      \
            TAKES(OPTION_TEXT, Common, key_file), .completes = COMPLETE_FILE            \
    }
#define BOUNDS_ROWS \
    ENV_ROW("all"), NET_ROW(" (unless told)", ""), ROOT_ROW, SECRETS_ROW, KEY_FILE_ROW
/* A server lets less through unless it is told. */
#define SERVER_BOUNDS_ROWS \
    ENV_ROW("none"), NET_ROW("", " (unless told)"), ROOT_ROW, SECRETS_ROW, KEY_FILE_ROW
#define KINDS_ROW                                                                          \
    {                                                                                      \
        "kinds", 0, "DIR",                                                                 \
            "a folder of kinds, looked into before those that the workflow names itself; " \
            "may be given many times",                                                     \
            TAKES(OPTION_FOLDERS, Common, kinds), .completes = COMPLETE_FILE               \
    }

#define STRICT_ROW                                                                      \
    {                                                                                   \
        "strict", 0, NULL, "keys of a test that nobody reads are errors, not warnings", \
            TAKES(OPTION_FLAG, Common, strict)                                          \
    }

typedef struct Common {
    const Command *command;
    const char *store;       /* as --store gave it, or NULL */
    const char *server, *ca; /* the same of --server and --ca (servers.h) */
    bool here;               /* no server is asked, whatever the environment says */
    bool json;
    Json env; /* names, or JSON_NONE */
    NetPolicy *net;
    SafeRoot *root;
    const char *secrets, *key_file; /* or NULL */
    Folders kinds;                  /* folders of kinds */
    bool strict;
} Common;

/* What was given, or $PAWL_STORE, or DEFAULT_STORE. */
const char *cli_store_url(const char *given);

/* Whether what is kept there outlives this process: a server's store does. */
bool cli_store_is_durable(const Common *c);

/* The URL of the store, or of the server, to name in commands that we advise (way_out.h: place_words()): NULL when it is
 * found without it. */
const char *cli_store_hint(const Common *c);

/* The URL that config.checkpointer and config.checkpoint_dir of a workflow come to. Given; NULL: they
 * are not there. */
char *cli_store_configured(const Graph *graph);

/* Says that another process, or the server, has the run, whose bounds hold, if others were asked for. */
void cli_bounds_elsewhere(const Common *c);

/* Puts {"error": ERROR} on standard output. Consumes it. */
void cli_put_error(Json error);

/* Says the error as "pawl NAME: sentence", with the way out, and as {"error": {code, message, facts...}} on standard
 * output with --json. Returns the exit code that it means. */
int cli_fail(const Common *c, const Error *err);

#endif
