#include "view_rows.h"

#include <string.h>

static void show_nothing(const Show *s, Json args, Json answer, Buf *out) {
    (void)s;
    (void)args;
    (void)answer;
    (void)out;
}

static const struct AnswerShown {
    const char *operation;
    void (*show)(const Show *s, Json args, Json answer, Buf *out);
} answers_shown[] = {
    {"session", show_session},
    {"configure", show_session},
    {"extend", show_session},
    {"detach", show_nothing},
    {"abort", show_nothing},
    {"breakpoint_set", show_breakpoint_set},
    {"breakpoint_change", show_breakpoint},
    {"breakpoint_delete", show_deleted},
    {"breakpoint_enable", show_enabled},
    {"breakpoints", show_breakpoints},
    {"continue", show_resumed},
    {"pause", show_pausing},
    {"step", show_resumed},
    {"back", show_moved},
    {"reverse_continue", show_moved},
    {"goto", show_moved},
    {"skip", show_resumed},
    {"retry", show_resumed},
    {"answer", show_answered},
    {"frames", show_frames},
    {"frame", show_frame},
    {"node", show_node},
    {"config", show_config},
    {"config_set", show_config},
    {"config_reset", show_config},
    {"variables", show_variables},
    {"summary", show_summary},
    {"search", show_found},
    {"largest", show_largest},
    {"diff", show_diff},
    {"evaluate", show_results},
    {"watch_add", show_watch_added},
    {"watch_delete", show_deleted},
    {"watches", show_all_watches},
    {"source", show_source},
    {"nodes", show_nodes},
    {"graph", show_graph},
    {"history", show_history},
    {"set", show_pending},
    {"unset", show_pending},
    {"pending", show_pending},
    {"revoke", show_pending},
    {"inject", show_inject},
    {"injected", show_injected},
    {"inject_remove", show_removed},
    {"replay", show_replay},
    {NULL, NULL},
};

void show_answer(const Show *s, const char *operation, Json args, Json answer, Buf *out) {
    for (const struct AnswerShown *a = answers_shown; a->operation; a++) {
        if (!strcmp(a->operation, operation)) {
            a->show(s, args, answer, out);
            say_line_end(out);
            return;
        }
    }
    show_value(s, answer, out);
}
