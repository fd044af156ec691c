#include "flows.h"

#include "mem.h"
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

Flow *cli_flow_load(const char *path) {
    FlowProblems problems = {0};
    Flow *flow = flow_load(path, NULL, &problems);
    cli_flow_say(&problems);
    return flow;
}

/* ---- files of stored definitions ---- */

/* The path as it is where it leads to the file from here too: people know it so. */
static char *path_from(Json folder, Json path) {
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
    return path_from(folder, path);
}

/* ---- is the file still what it was? ---- */

/* Compares in pieces; a file that is not there is no other text. */
static bool text_differs(FILE *file, const char *text, size_t len) {
    char piece[8192];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0) {
        if (n > len || memcmp(piece, text, n) != 0) return true;
        text += n;
        len -= n;
    }
    return len > 0 && !ferror(file);
}

static bool file_differs(Json folder, Json path, Json text) {
    char *name = path_from(folder, path);
    FILE *file = json_string_is(path, "-") ? NULL : fopen(name, "rb");
    bool differs = file && json_kind(text) == JSON_STRING &&
                   text_differs(file, json_string_data(&text), json_string_len(text));
    if (file) fclose(file);
    mem_free(name);
    return differs;
}

bool cli_flow_differs(Json definition, Json folder) {
    Json files = json_object_get_c(definition, "files"), path, text;
    if (json_kind(files) != JSON_OBJECT) return false;
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (file_differs(folder, path, text)) return true;
    }
    return false;
}
