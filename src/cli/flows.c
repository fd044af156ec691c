#include "flows.h"

#include "mem.h"
#include "terminal.h"

#include <stdio.h>
#include <string.h>

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

char *cli_flow_path(Json definition) {
    Json path = json_object_get_c(definition, "main");
    if (json_kind(path) != JSON_STRING || json_string_is(path, "-")) {
        return NULL;
    }
    return mem_strndup(json_string_data(&path), json_string_len(path));
}

/* ---- is the file still what it was? ---- */

/* Compares in pieces; a file that is not there is no other text. */
static bool text_differs(FILE *file, const char *text, size_t len) {
    char piece[8192];
    size_t n;
    while ((n = fread(piece, 1, sizeof piece, file)) > 0) {
        if (n > len || memcmp(piece, text, n) != 0) {
            return true;
        }
        text += n;
        len -= n;
    }
    return len > 0 && !ferror(file);
}

static bool file_differs(Json path, Json text) {
    char *name = mem_strndup(json_string_data(&path), json_string_len(path));
    FILE *file = strcmp(name, "-") ? fopen(name, "rb") : NULL;
    bool differs = file && json_kind(text) == JSON_STRING &&
                   text_differs(file, json_string_data(&text), json_string_len(text));
    if (file) {
        fclose(file);
    }
    mem_free(name);
    return differs;
}

bool cli_flow_differs(Json definition) {
    Json files = json_object_get_c(definition, "files"), path, text;
    if (json_kind(files) != JSON_OBJECT) {
        return false;
    }
    for (size_t pos = 0; json_object_next(files, &pos, &path, &text);) {
        if (file_differs(path, text)) {
            return true;
        }
    }
    return false;
}
