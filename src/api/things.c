#include "things.h"

#include "hooks.h"
#include "image.h"
#include "json_build.h"
#include "result.h"
#include "session.h"
#include "titles.h"
#include "wait.h"

#include <string.h>

const ShapeName thing_shapes[] = {
    {"VALUE", "any|null"},
    {"RUN",
     "{run: int, thread: text, workflow: text, status: text, orphaned?: bool, checkpoint?: int, created: time, updated: time, "
     "owner?: text, frames?: [PLACE], interrupts?: [INTERRUPT], paused?: [PAUSE], error?: FAILURE, over?: bool, "
     "state?: VALUE}"},
    {"PLACE", "{frame: int, node?: text, title?: text, waits?: text, doing?: text, pause?: PAUSE}"},
    {"PAUSE",
     "{frame?: int, node?: text, position?: text, reason?: text, at?: time, breakpoints?: [int], "
     "error?: FAILURE, change?: CHANGE, because?: int, while?: WHILE}"},
    {"WHILE",
     "{expression: text, passed: int, ended: \"false\"|\"error\"|\"limit\"|\"pause\"|\"run\", error?: text}"},
    {"DOING",
     "{frame: int, parent?: int, name: text, status: text, node?: text, depth: int, since?: time, waits?: text, "
     "doing?: text}"},
    {"INTERRUPT",
     "{id: text, node: text, frame: int, reason: text, prompt?: VALUE, options?: [VALUE]}"},
    {"FAILURE",
     "{kind: text, message: text, node?: text, file?: text, line?: int, column?: int, ...}"},
    {"CHECKPOINT",
     "{checkpoint: int, parent?: int, step: int, node?: text, frame: int, status: text, at: time, by?: text, "
     "changed: [text], title?: text, update?: VALUE, failure?: FAILURE, edges?: [EDGE], state?: VALUE} | {checkpoint: int, status: \"damaged\", error: text}"},
    {"EDGE",
     "{from: text, frame: int, to: [text], error?: bool, tried: [{when: text, to: [text], gave?: VALUE, type?: text, size?: int, error?: text}], checkpoint?: int}"},
    {"LOG",
     "{n: int, node: text, frame: int, execution: text, attempt: int, stream: \"stdout\"|\"stderr\"|\"log\", "
     "offset: int, at: time, text: text} | {n: int, error: text}"},
    {"PROBLEM",
     "{file: text, line: int, col: int, severity: \"error\"|\"warning\", message: text}"},
    {"CHANGE",
     "{path: path, old?: VALUE, new?: VALUE, old_size?: int, new_size?: int, cut?: bool}"},
    {"COUNTS", "{added: int, removed: int, changed: int, unchanged: int}"},
    {"CHANGES", "{added: [CHANGE], removed: [CHANGE], changed: [CHANGE], more?: bool}"},
    {"SESSION",
     "{id: text, run: int, thread: text, workflow: text, file: text, dialect: text, run_status: text, "
     "status: \"running\"|\"paused\"|\"waiting\"|\"ended\", frame?: int, paused: int, "
     "pause_all_on_breakpoint: bool, auto_resume: bool, idle_limit: number, expires_in?: number, "
     "checkpoint: int, created: time, touched: time, breakpoints: bool, exceptions: bool, error?: FAILURE}"},
    {"FRAME",
     "{frame: int, parent?: int, name: text, status: text, node?: text, kind?: text, file?: text, "
     "line?: int, column?: int, index?: int, id?: text, title?: text, cleanup?: bool, edited?: bool, depth: int, since?: time, "
     "made_by?: text, stepping?: \"over\"|\"into\"|\"out\", "
     "position?: text, reason?: text, at?: time, breakpoints?: [int], error?: FAILURE, "
     "change?: CHANGE, because?: int, while?: WHILE, interrupt?: QUESTION, waits_for?: [int], joins_at?: object, result?: VALUE, pending: int, "
     "injected: int, stack?: [LEVEL]}"},
    {"ENDED",
     "{frame: int, parent?: int, path: text, node: text, result: \"success\"|\"failure\"|\"skipped\", checkpoint: int, at: time}"},
    {"QUESTION", "{id: text, reason: text, prompt?: VALUE, options?: [VALUE]}"},
    {"LEVEL",
     "{depth: int, frame: int, node?: text, kind?: text, file?: text, line?: int, column?: int, "
     "workflow: text}"},
    {"BREAKPOINT",
     "{id: int, type: text, node?: text, task_index?: int, task_id?: text, task_name?: text, task_title?: text, "
     "file?: text, line?: int, condition?: text, state?: object, error?: text, caught?: bool, "
     "ignore_count?: int, hit_condition?: text, log_message?: text, once?: bool, group?: text, "
     "metadata?: any, position: text, enabled: bool, hit_count: int, ignore_from?: int, "
     "verified: bool, message?: text, "
     "places: [{node: text, file: text, line: int}], more?: int}"},
    {"RESUMED", "{resumed: [int]}"},
    {"MOVED",
     "{checkpoint?: int, from?: int, frame?: int, node?: text, ended?: text, breakpoints?: [int], "
     "others?: [int], after?: {frame: int, path: text, node: text}}"},
    {"NODE",
     "{node: text, kind: text, workflow: text, file: text, line: int, column: int, end_line: int, "
     "title?: text, attempt: int, timeout?: number, retry?: object, interrupt?: text, injected?: int, "
     "edited?: bool, source?: VALUE, inside?: [text], edges: [{to: text, when?: text, on?: text, parallel?: bool, "
     "join?: text}]}"},
    {"CONFIG",
     "{node: text, kind: text, raw?: VALUE, expressions: [{path: path, text: text, line?: int, "
     "column?: int}], title?: text, resolved?: VALUE, error?: text, edited?: bool}"},
    {"VARIABLE", "{key: text|int, type: text, size: int, length?: int, preview: text}"},
    {"VARIABLES",
     "{path: path, text: text, type: text, size: int, length?: int, value?: VALUE, preview?: text, "
     "children?: [VARIABLE], offset?: int, total?: int, cut?: bool, "
     "pending?: [{id: int, path: path, value?: VALUE, before?: VALUE}]}"},
    {"FOUND",
     "{found: [{path: path, text: text, type: text, preview: text, where: \"key\"|\"value\"}], "
     "more: bool}"},
    {"HISTORY_STEP",
     "{checkpoint: int, parent?: int, step: int, frame: int, node?: text, status: text, "
     "result?: \"success\"|\"failure\"|\"skipped\", at: time, by?: text, took?: int, paused: bool, injected: bool, "
     "edited: bool, changed: [text], current: bool}"},
    {"MOMENT", "{checkpoint: int, node?: text, status: text, step: int}"},
    {"PENDING", "{pending: [{id: int, path: path, value?: VALUE, before?: VALUE}]}"},
    {"INJECTED", "{id: int, where: text, name: text, node: object, frame?: int}"},
    {NULL, NULL},
};

/* ---- runs ---- */

Json run_json(Store *store, const RunRow *row) {
    bool leased = store_is_leased(store, row->run);
    bool gone = !strcmp(row->status, "running") && !leased;
    return OBJECT(KEY("run", row->run), KEY("thread", row->thread), KEY("workflow", row->workflow),
                  KEY("status", gone ? "stopped" : row->status),
                  KEY("orphaned", gone ? json_bool(true) : json_none()),
                  KEY("checkpoint", row->head ? json_int(row->head) : json_none()),
                  KEY("created", json_time(row->created)), KEY("updated", json_time(row->updated)),
                  KEY("owner", leased && row->owner && row->owner[0] ? row->owner : NULL));
}

static Json pause_json(Json wait) {
    int64_t position = image_int(wait, WAIT_PAUSE_POSITION);
    bool known = position >= 0 && position < HOOK_POSITIONS;
    return session_pause_json(json_object(), known ? hook_positions[position] : NULL,
                              json_array_get(wait, WAIT_PAUSE_INFO));
}

static Json text_or_none(Json value) {
    return json_kind(value) == JSON_STRING ? json_ref(value) : json_none();
}

/* What the frames of an image stand at. */
static Json places_json(Json image, Json titles) {
    Json out = json_array(), id, frame, frames = json_array_get(image, IMAGE_FRAMES);
    for (size_t pos = 0; json_object_next(frames, &pos, &id, &frame);) {
        Json levels = json_array_get(frame, IMAGE_LEVELS), wait = json_array_get(frame, IMAGE_WAIT);
        Json top = json_array_get(levels, json_array_len(levels) - 1);
        WaitKind kind = wait_kind(wait);
        Json node = json_array_get(top, IMAGE_NODE);
        bool named = json_kind(node) == JSON_STRING;
        Json place =
            OBJECT(KEY("frame", json_number_parse(json_string_data(&id), json_string_len(id))),
                   KEY("node", text_or_none(node)),
                   KEY("title", title_of_node(titles, named ? json_string_data(&node) : NULL)),
                   KEY("waits", kind == WAIT_NOTHING ? NULL : wait_rows[kind].word),
                   KEY("doing", wait_rows[kind].shown),
                   KEY("pause", kind == WAIT_PAUSE ? pause_json(wait) : json_none()));
        out = json_array_push(out, place);
    }
    return out;
}

Json run_detail(Store *store, const RunRow *row, RunDetail detail) {
    Json out = run_json(store, row), image = detail.image;
    if (json_is_none(image)) {
        return OBJECT_ADD(out, KEY("frames", json_array()), KEY("interrupts", json_array()));
    }
    Json error = image_error(image);
    if (json_kind(error) != JSON_OBJECT) json_clear(&error);
    return OBJECT_ADD(out, KEY("frames", places_json(image, detail.titles)),
                      KEY("interrupts", image_interrupts(image)), KEY("error", error),
                      KEY("over", image_is_over(image) ? json_bool(true) : json_none()),
                      KEY("state", detail.state ? image_state(image) : json_none()));
}

/* ---- checkpoints ---- */

Json checkpoint_json(const Checkpoint *c, Json changed) {
    return OBJECT(KEY("checkpoint", c->seq),
                  KEY("parent", c->parent ? json_int(c->parent) : json_none()),
                  KEY("step", c->step), KEY("node", c->node[0] ? c->node : NULL),
                  KEY("frame", c->frame), KEY("status", c->status), KEY("at", json_time(c->at)),
                  KEY("by", result_by(c)), KEY("changed", changed));
}

/* ---- logs ---- */

Json log_json(const LogPiece *piece) {
    Json execution =
        json_string_fmt("%lld.%lld", (long long)piece->execution, (long long)piece->frame);
    return OBJECT(KEY("n", piece->n), KEY("node", piece->node), KEY("frame", piece->frame),
                  KEY("execution", execution), KEY("attempt", piece->attempt),
                  KEY("stream", log_stream_names[piece->stream]), KEY("offset", piece->offset),
                  KEY("at", json_time(piece->at)),
                  KEY("text", json_string(piece->text, piece->len)));
}

void problems_error(const FlowProblems *problems, const char *otherwise, Error *err) {
    const FlowProblem *first = problems->n ? &problems->items[0] : NULL;
    error_set_at(err, ERR_SYNTAX, first ? first->line : 0, first ? first->col : 0, "%s",
                 first ? first->msg : otherwise);
    error_fact(err, "file", first ? first->file : NULL);
}
