#include "flows.h"

#include "asking.h"
#include "exec.h"
#include "fields.h"
#include "json_build.h"
#include "kind_listing.h"
#include "mem.h"
#include "servers.h"
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void cli_flow_say(FlowProblems *problems) {
    Buf text = BUF_INIT;
    for (size_t i = 0; i < problems->n; i++) {
        flow_problem_print(&problems->items[i], terminal_has_colour(stderr), &text);
    }
    fputs(text.data ? text.data : "", stderr);
    buf_clear(&text);
    flow_problems_clear(problems);
}

void cli_flow_put_json(const FlowProblems *problems) {
    Json all = json_array();
    for (size_t i = 0; i < problems->n; i++) {
        all = json_array_push(all, flow_problem_json(&problems->items[i]));
    }
    cli_put_error(OBJECT(KEY("code", "syntax"), KEY("message", "The workflow has errors."),
                         KEY("problems", all)));
}

FlowReader cli_flow_reader(const Common *c) {
    FlowReader reader = flow_root_reader(c->root);
    reader.kinds = c->kinds.items;
    reader.nkinds = c->kinds.n;
    reader.strict = c->strict;
    return reader;
}

/* Those that are in files there. */
static Json kinds_of_server(const Common *c, int *code) {
    Asking a;
    asking_begin(&a, c);
    Json answer = ask(&a, "kinds", json_none()), all = field_get(answer, "kinds");
    Json out = json_is_none(answer) ? json_none() : json_array();
    for (size_t i = 0; !json_is_none(out) && i < json_array_len(all); i++) {
        Json kind = json_array_get(all, i);
        if (field_has_text(kind, "file")) out = json_array_push(out, json_ref(kind));
    }
    json_unref(answer);
    *code = asking_end(&a);
    return out;
}

static Json kinds_here(const Common *c) {
    FlowReader reader = cli_flow_reader(c);
    const char *folders[sizeof c->kinds.items / sizeof *c->kinds.items + 1];
    memcpy(folders, c->kinds.items, c->kinds.n * sizeof *folders);
    folders[c->kinds.n] = FLOW_KIND_FOLDER;
    return kinds_outside(folders, c->kinds.n + 1, &reader);
}

bool cli_kinds_outside(const Common *c, Json *out, int *code) {
    *code = EXIT_USAGE;
    *out = json_none();
    if (!cli_server(c)) {
        *out = kinds_here(c);
    } else if (!c->kinds.n || cli_is_here(c, "--kinds")) {
        *out = kinds_of_server(c, code);
    }
    return !json_is_none(*out);
}

Flow *cli_flow_load(const Common *c, const char *path) {
    FlowProblems problems = {0};
    FlowReader reader = cli_flow_reader(c);
    Flow *flow = flow_load(path, &reader, &problems);
    if (flow) exec_check_code(flow, &problems);
    if (flow && !cli_server(c)) exec_check_files(flow, c->root, &problems);
    if (problems.errors) {
        flow_unref(flow);
        flow = NULL;
    }
    if (!flow && c->json) cli_flow_put_json(&problems);
    cli_flow_say(&problems);
    return flow;
}

/* ---- files of stored definitions ---- */

/* The path as it is where it leads to the file from here too: people know it so. */
char *cli_flow_place(Json folder, Json path) {
    Buf out = BUF_INIT;
    bool whole = json_string_len(path) && json_string_data(&path)[0] == '/';
    char *ours = getcwd(NULL, 0);
    if (!whole && json_kind(folder) == JSON_STRING && !(ours && json_string_is(folder, ours))) {
        buf_add(&out, json_string_data(&folder), json_string_len(folder));
        buf_addc(&out, '/');
    }
    free(ours);
    buf_add(&out, json_string_data(&path), json_string_len(path));
    buf_addc(&out, '\0');
    return buf_detach(&out);
}

char *cli_flow_path(Json definition, Json folder) {
    Json path = json_object_get_c(definition, "main");
    if (json_kind(path) != JSON_STRING || json_string_is(path, "-")) return NULL;
    return cli_flow_place(folder, path);
}

/* ---- is the file still what it was? ---- */

static bool file_differs(const SafeRoot *root, Json folder, Json path, Json text) {
    char *name = cli_flow_place(folder, path);
    Buf now = BUF_INIT;
    bool differs = !json_string_is(path, "-") && json_kind(text) == JSON_STRING &&
                   flow_read_file(root, name, &now, NULL) &&
                   (now.len != json_string_len(text) ||
                    (now.len && memcmp(now.data, json_string_data(&text), now.len) != 0));
    buf_clear(&now);
    mem_free(name);
    return differs;
}

bool cli_flow_differs(const SafeRoot *root, Json definition, Json folder) {
    Json files = json_object_get_c(definition, "files"), path, text;
    if (json_kind(files) != JSON_OBJECT) return false;
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (file_differs(root, folder, path, text)) return true;
    }
    return false;
}
