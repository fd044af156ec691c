#include "flow.h"

#include "ascii.h"
#include "edge_agent.h"
#include "json_build.h"
#include "kind_schema.h"
#include "loader.h"
#include "mem.h"
#include "path.h"
#include "safe_file.h"
#include "url.h"
#include "utf8.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- dialects ---- */

#define X(id, name) extern const Dialect name##_dialect;
DIALECTS(X)
#undef X

static const Dialect *const dialects[DIALECT_COUNT] = {
#define X(id, name) &name##_dialect,
    DIALECTS(X)
#undef X
};

const char *dialect_name(DialectId dialect) {
    return dialects[dialect]->name;
}

/* "`nodes` (a graph), `tasks` (a test) or `steps` (a pipeline)", or the keys alone. */
static void list_dialects(Buf *out, bool what) {
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        buf_adds(out, i == 0 ? "" : i + 1 < DIALECT_COUNT ? ", " : " or ");
        buf_printf(out, "`%s`", dialects[i]->key);
        if (what) buf_printf(out, " (%s)", dialects[i]->what);
    }
}

static const Dialect *find_dialect(Loader *ld, const YamlNode *root) {
    const Dialect *found = NULL;
    const char *keys[DIALECT_COUNT + 1] = {NULL};
    Buf list = BUF_INIT;
    if (!expect_map(ld, root, "A workflow file")) return NULL;
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        keys[i] = dialects[i]->key;
        const YamlPair *pair = yaml_pair(root, keys[i]);
        if (pair && found) {
            list_dialects(&list, true);
            report_at(ld->reporter, pair->key->spot,
                      "A file has either %s, but this one has `%s` and `%s`; make it two files.",
                      list.data, found->key, keys[i]);
            buf_clear(&list);
            return NULL;
        }
        found = pair ? dialects[i] : found;
    }
    if (!found) {
        check_keys(ld, root, (KeyList){.names = graph_keys, .more = keys}, "a workflow");
        list_dialects(&list, false);
        report_at(ld->reporter, root->spot, "A workflow needs %s: the list of what it does.",
                  list.data);
        buf_clear(&list);
    }
    return found;
}

/* Whether a text has the key of a dialect anywhere. One that has not is no workflow, and what is in it is not
 * shown: a workflow can name any file that we can read. */
static bool mentions_dialect(const Buf *text) {
    for (size_t i = 0; i < DIALECT_COUNT; i++) {
        const char *key = dialects[i]->key, *at = text->len ? text->data : "";
        size_t len = strlen(key);
        for (; (at = strstr(at, key)); at += len) {
            const char *after = at + len + strspn(at + len, "\"' \t");
            if (*after == ':') return true;
        }
    }
    return false;
}

/* ---- making ---- */

Json keep(Loader *ld, Json v) {
    FlowImpl *flow = ld->flow;
    if (json_on_heap(v)) {
        flow->kept = mem_grow(flow->kept, flow->nkept, &flow->kept_cap, sizeof *flow->kept);
        flow->kept[flow->nkept++] = v;
    }
    return v;
}

GraphImpl *new_graph(Loader *ld, const char *name, Spot spot) {
    FlowImpl *flow = ld->flow;
    GraphImpl *g = arena_alloc(ld->arena, sizeof *g);
    g->graph.name = name;
    g->graph.dialect = ld->dialect;
    g->graph.flow = &flow->flow;
    g->graph.id = (uint32_t)flow->ngraphs;
    g->graph.recursion_limit = FLOW_RECURSION_LIMIT;
    g->graph.agent = ld->agent ? ld->agent->given : json_none();
    g->graph.file = spot.file->path;
    yaml_line_col(spot.file, spot.at, &g->graph.line, &g->graph.col);
    flow->graphs = mem_grow(flow->graphs, flow->ngraphs, &flow->graphs_cap, sizeof *flow->graphs);
    flow->graphs[flow->ngraphs++] = &g->graph;
    return g;
}

void load_keys(Loader *ld, GraphImpl *graph, const YamlNode *map) {
    Graph *g = &graph->graph;
    g->nkeys = map->n;
    g->keys = arena_alloc(ld->arena, (map->n ? map->n : 1) * sizeof *g->keys);
    for (size_t i = 0; i < map->n; i++) {
        const YamlNode *name = map->pairs[i].key;
        g->keys[i].name = keep(ld, json_string_valid(name->text, name->len));
        g->keys[i].initial = keep(ld, yaml_json(map->pairs[i].value));
        yaml_line_col(name->spot.file, name->spot.at, &g->keys[i].line, &g->keys[i].col);
    }
    name_table_fill(&graph->keys, ld->arena, &g->keys[0].name, sizeof *g->keys, g->nkeys);
}

const Node *graph_node(const Graph *g, Json name) {
    int i = name_table_find(&((const GraphImpl *)g)->nodes, name);
    return i < 0 ? NULL : &g->nodes[i];
}

const Graph *node_inside(const Node *node, int64_t branch) {
    const Kind *kind = node->kind;
    if (kind->outside) return kind->outside->graph;
    size_t param = branch && kind->others ? kind->others : kind->inside;
    return param ? node->params[param - 1].graph : NULL;
}

const Node *node_body(const Node *node) {
    return node->kind->inside ? node->params[node->kind->inside - 1].node : NULL;
}

bool node_is_leaf(const Node *node) {
    return !node->kind->inside && !node->kind->outside;
}

int64_t node_time_ms(const Node *node) {
    const Graph *inside = node_inside(node, 0);
    bool test = node->kind->id == KIND_RUN_EXTERNAL_TASKS; /* whose own timeout does not count */
    return node->timeout_ms || !inside || test ? node->timeout_ms : inside->timeout_ms;
}

const Node *graph_find(const Graph *g, Json name) {
    const Node *node = graph_node(g, name);
    size_t len = json_string_len(name);
    if (node || len < 3 || memcmp(json_string_data(&name) + len - 2, "[]", 2) != 0) return node;
    Json map_name = json_string_valid(json_string_data(&name), len - 2);
    const Node *map = graph_find(g, map_name);
    json_unref(map_name);
    return map ? node_body(map) : NULL;
}

const StateKey *graph_key(const Graph *g, Json name) {
    int i = name_table_find(&((const GraphImpl *)g)->keys, name);
    return i < 0 ? NULL : &g->keys[i];
}

/* ---- reading ---- */

static bool too_large(Error *err) {
    return error_set(err, ERR_LIMIT, "The file is larger than %d MB, the limit for a workflow.",
                     FLOW_FILE_MAX >> 20);
}

static bool read_all(int fd, Buf *out, Error *err) {
    for (;;) {
        char *room = buf_reserve(out, 64 << 10);
        ssize_t n = read(fd, room, 64 << 10);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_set(err, ERR_IO, "The file cannot be read: %s.", strerror(errno));
        if (n == 0) return true;
        buf_advance(out, (size_t)n);
        if (out->len > FLOW_FILE_MAX) return too_large(err);
    }
}

/* A pipe that whoever starts us has opened for us, as `<(...)` of a shell does, may be read to its end;
 * anything else that is no regular file is not waited for. */
bool flow_read_file(const SafeRoot *root, const char *path, Buf *out, Error *err) {
    struct stat st;
    bool given = !root && safe_is_descriptor(path);
    int fd = root ? safe_root_open(root, path, O_RDONLY, err)
                  : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (given ? 0 : O_NONBLOCK));
    if (fd < 0 && root && errno == EXDEV) {
        return error_set(err, ERR_IO, "It is outside of the folder %s, which files have to be in.",
                         safe_root_name(root));
    }
    if (fd < 0) {
        bool none = errno == ENOENT || errno == ENOTDIR;
        return error_set(err, none ? ERR_NOT_FOUND : ERR_IO, "The file cannot be opened: %s.",
                         strerror(errno));
    }
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    bool ok = !regular && !given ? error_set(err, ERR_IO, "It is not a regular file.")
              : regular && st.st_size > FLOW_FILE_MAX ? too_large(err)
                                                      : read_all(fd, out, err);
    close(fd);
    return ok;
}

static bool read_at_hand(void *ctx, const char *path, Buf *out, Error *err) {
    const FlowFiles *files = ctx;
    Json text = json_object_get_c(files->texts, path);
    if (json_kind(text) != JSON_STRING) return error_set(err, ERR_NOT_FOUND, "%s", files->missing);
    buf_add(out, json_string_data(&text), json_string_len(text));
    return true;
}

static void list_at_hand(void *ctx, const char *folder, void (*each)(void *, const char *),
                         void *to) {
    const FlowFiles *files = ctx;
    size_t len = strcmp(folder, ".") ? strlen(folder) : 0;
    Json path, text;
    for (size_t pos = 0; json_object_next(files->texts, &pos, &path, &text);) {
        const char *name = json_string_data(&path);
        if (strncmp(name, folder, len) != 0 || (len && name[len] != '/')) continue;
        name += len ? len + 1 : 0;
        if (!strchr(name, '/')) each(to, name);
    }
}

FlowReader flow_files_reader(FlowFiles *files) {
    return (FlowReader){.read = read_at_hand, .ctx = files, .list = list_at_hand};
}

static bool read_in_root(void *ctx, const char *path, Buf *out, Error *err) {
    return strcmp(path, "-") == 0 ? read_all(STDIN_FILENO, out, err)
                                  : flow_read_file(ctx, path, out, err);
}

/* What is listed is opened as any file is: here only names are looked at. */
static void list_in_root(void *ctx, const char *folder, void (*each)(void *, const char *),
                         void *to) {
    const SafeRoot *root = ctx;
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    int fd = root ? safe_root_open(root, folder, flags, NULL) : open(folder, flags);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    if (fd >= 0 && !dir) close(fd);
    for (const struct dirent *entry; dir && (entry = readdir(dir));) each(to, entry->d_name);
    if (dir) closedir(dir);
}

static bool is_ours_in_root(void *ctx, const char *folder, Error *err) {
    const SafeRoot *root = ctx;
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    int fd = root ? safe_root_open(root, folder, flags, NULL) : open(folder, flags);
    bool ours = fd < 0 || safe_folder_is_ours(fd, folder, err);
    if (fd >= 0) close(fd);
    return ours;
}

FlowReader flow_root_reader(const SafeRoot *root) {
    return (FlowReader){.read = read_in_root,
                        .ctx = (void *)(uintptr_t)root,
                        .list = list_in_root,
                        .is_ours = is_ours_in_root};
}

static bool read_file(const Loader *ld, const char *path, Buf *out, Error *err) {
    if (!ld->reader || !ld->reader->read) return read_in_root(NULL, path, out, err);
    return ld->reader->read(ld->reader->ctx, path, out, err) &&
           (out->len <= FLOW_FILE_MAX || too_large(err));
}

static LoadedFile *new_file(Loader *ld, const char *path, Buf *text) {
    FlowImpl *flow = ld->flow;
    LoadedFile *file = arena_alloc(ld->arena, sizeof *file);
    char *id = arena_strndup(ld->arena, path, strlen(path));
    if (!url_is_web(id)) path_tidy(id);
    file->path = path;
    file->id = id;
    file->bytes = arena_strndup(ld->arena, text->data ? text->data : "", text->len);
    file->len = text->len;
    file->yaml = yaml_file(ld->arena, path, file->bytes, file->len);
    flow->files = mem_grow(flow->files, flow->nfiles, &flow->files_cap, sizeof *flow->files);
    flow->files[flow->nfiles++] = file;
    return file;
}

/* The file name without folders and extension. */
static const char *default_name(Loader *ld, const char *path) {
    const char *name = text_after_last(path, '/'), *dot = strrchr(name, '.');
    size_t len = dot && dot != name ? (size_t)(dot - name) : strlen(name);
    return strcmp(path, "-") == 0 || len == 0 ? "workflow" : arena_strndup(ld->arena, name, len);
}

/* named: where the file around it says so. */
static void load_file(Loader *ld, LoadedFile *file, Spot named) {
    const Dialect *around = file->from && !file->kind_name ? file->from->dialect : NULL;
    bool called = ld->called || (around && around->schema == YAML_TESTS); /* by another test */
    ld->called = false;
    Spot merge = {NULL, 0, 0};
    YamlLimits limits = {FLOW_NESTING_MAX, &ld->nodes_left, &merge, called};
    const YamlNode *root = yaml_parse(ld->arena, file->yaml, limits, ld->reporter);
    const Dialect *dialect = root ? find_dialect(ld, root) : NULL;
    const Dialect *outer = around ? around : dialect;
    if (!dialect) return;
    if (merge.file && dialect->schema == YAML_CORE) {
        report_at(ld->reporter, merge, YAML_NO_MERGE);
        return;
    }
    file->yaml->schema = called ? YAML_TESTS_INSIDE : dialect->schema;
    if (outer != dialect) {
        report_at(ld->reporter, named,
                  "`%s` is of the %s dialect (it has `%s`) and cannot be part of a file of the %s "
                  "dialect (`%s`): only files of the same dialect go into each other.",
                  file->path, dialect->name, dialect->key, outer->name, outer->key);
        return;
    }
    file->dialect = dialect;
    if (!load_kind_head(ld, file, root)) return;
    const char *before = ld->dialect;
    struct EdgeAgent *agent = ld->agent;
    ld->dialect = dialect->name;
    ld->agent = NULL;
    GraphImpl *graph = new_graph(ld, default_name(ld, file->path), root->spot);
    if (!ld->flow->flow.dialect) ld->flow->flow.dialect = dialect->name;
    file->loading = true;
    if (dialect->load(ld, file, root, graph)) file->graph = graph;
    load_kind_end(ld, file, root);
    file->loading = false;
    ld->dialect = before;
    ld->agent = agent;
}

/* ---- workflows in workflows ---- */

/* "a.yaml -> b.yaml -> a.yaml": `last` names `first` again. */
static void report_circle(Loader *ld, const LoadedFile *first, const LoadedFile *last, Spot spot) {
    const char *chain[FLOW_DEPTH_MAX + 1];
    size_t n = 0;
    Buf text = BUF_INIT;
    for (const LoadedFile *f = last; f && n <= FLOW_DEPTH_MAX; f = f == first ? NULL : f->from) {
        chain[n++] = f->path;
    }
    while (n > 0) buf_printf(&text, "%s -> ", chain[--n]);
    report_at(ld->reporter, spot, "The %s includes itself: %s%s.",
              first->kind_name ? "kind" : "workflow", text.data, first->path);
    buf_clear(&text);
}

char *flow_beside(const char *file, const char *name) {
    Buf path = BUF_INIT;
    if (url_is_web(file) || url_is_web(name)) {
        url_join(&path, file, name);
        buf_reserve(&path, 1)[0] = '\0';
        return buf_detach(&path);
    }
    const char *slash = name[0] == '/' ? NULL : strrchr(file, '/');
    buf_add(&path, file, slash ? (size_t)(slash + 1 - file) : 0);
    buf_adds(&path, name);
    buf_reserve(&path, 1)[0] = '\0';
    path_tidy(path.data);
    return buf_detach(&path);
}

char *beside(Loader *ld, const LoadedFile *file, const char *name) {
    char *path = flow_beside(file->path, name);
    char *kept = arena_strndup(ld->arena, path, strlen(path));
    mem_free(path);
    return kept;
}

/* What a file is, for sentences. */
static const char *part_word(const PartFile *part) {
    return part->kind ? "kind" : "workflow";
}

LoadedFile *open_part(const PartFile *part, bool *found) {
    Loader *ld = part->ld;
    const char *path = part->path;
    LoadedFile *file = NULL;
    for (size_t i = 0; i < ld->flow->nfiles && !file; i++) {
        file = strcmp(ld->flow->files[i]->id, path) == 0 ? ld->flow->files[i] : NULL;
    }
    *found = true;
    if (file && file->loading) {
        report_circle(ld, file, part->from, part->spot);
        return NULL;
    }
    if (file) return file;
    Buf text = BUF_INIT;
    Error err = ERROR_INIT;
    size_t errors = ld->reporter->list->errors;
    if (ld->flow->nfiles >= FLOW_FILES_MAX) {
        report_at(ld->reporter, part->spot, "A workflow can be made of %d files at most.",
                  FLOW_FILES_MAX);
    } else if (!strncmp(path, "/dev/", 5)) {
        report_at(ld->reporter, part->spot, "The %s `%s` cannot be used. It is not a regular file.",
                  part_word(part), path);
    } else if (!read_file(ld, path, &text, &err)) {
        *found = err.code != ERR_NOT_FOUND || (!part->kind && !part->later);
        if (*found) {
            report_at(ld->reporter, part->spot, "The %s `%s` cannot be used. %s", part_word(part),
                      path, err.msg);
        }
    } else if (!mentions_dialect(&text)) {
        Buf list = BUF_INIT;
        list_dialects(&list, false);
        report_at(ld->reporter, part->spot, "`%s` is not a %s: it does not have %s.", path,
                  part_word(part), list.data);
        buf_clear(&list);
    } else {
        file = new_file(ld, path, &text);
        file->from = part->from;
        file->kind_name = part->kind;
        load_file(ld, file, part->spot);
        if (ld->reporter->list->errors > errors || ld->reporter->left_out_errors) kind_is_bad(file);
    }
    buf_clear(&text);
    return file;
}

static const Graph *load_part(const PartFile *part, bool *found) {
    Loader *ld = part->ld;
    Spot spot = part->spot;
    LoadedFile *file = open_part(part, found);
    if (file && file->kind) {
        report_at(ld->reporter, spot, "`%s` is a kind: it is used by its name, not by its path.",
                  file->path);
        return NULL;
    }
    return file && file->graph ? &file->graph->graph : NULL;
}

const Graph *load_workflow(Loader *ld, LoadedFile *from, Spot spot, const char *name) {
    bool found;
    if (*name == '\0') {
        report_at(ld->reporter, spot, "This must be the path of a file.");
        return NULL;
    }
    return load_part(&(PartFile){ld, from, spot, beside(ld, from, name), NULL, false}, &found);
}

const Graph *load_test(Loader *ld, LoadedFile *from, Spot spot, const char *name) {
    bool found;
    if (*name == '\0') return load_workflow(ld, from, spot, name);
    if (url_is_other(name)) {
        report_at(ld->reporter, spot,
                  "`%s` cannot be fetched: tests are fetched by http:// and https:// alone.",
                  shown(name, strlen(name)));
        return NULL;
    }
    PartFile part = {ld, from, spot, beside(ld, from, name), NULL, true};
    if (url_is_web(part.path)) return NULL;
    const Graph *graph = load_part(&part, &found);
    if (!found) {
        report_warning(ld->reporter, spot,
                       "There is no file `%s` now. It is looked for again when the task begins.",
                       part.path);
    }
    return graph;
}

/* ---- the whole ---- */

Flow *flow_load(const char *path, const FlowReader *reader, FlowProblems *problems) {
    return flow_load_inside(path, reader, &(FlowAround){0}, problems);
}

Flow *flow_load_inside(const char *path, const FlowReader *reader, const FlowAround *around,
                       FlowProblems *problems) {
    static _Atomic uint64_t loaded;
    Reporter reporter = reporter_start(problems, path);
    FlowImpl *impl = mem_zalloc(sizeof *impl);
    Flow *flow = &impl->flow;
    impl->refs = 1;
    flow->serial = ++loaded;
    impl->arena = arena_new();
    Loader ld = {.flow = impl,
                 .arena = impl->arena,
                 .reporter = &reporter,
                 .reader = reader,
                 .nodes_left = FLOW_NODES_MAX,
                 .exprs_left = FLOW_EXPRS_MAX,
                 .depth = (int)around->nvars / 2, /* each map around it adds two */
                 .called = around->called,
                 .ignored = json_object()};
    flow->path = arena_strndup(impl->arena, path, strlen(path));
    flow->first_expr = around->first.exprs;
    flow->first_node = around->first.nodes;
    for (size_t i = 0; i < around->nvars; i++) {
        const char *name = arena_strndup(ld.arena, around->vars[i], strlen(around->vars[i]));
        ld.outer = scope_with(&ld, ld.outer, &name, 1);
    }
    Buf text = BUF_INIT;
    Error err = ERROR_INIT;
    if (read_file(&ld, flow->path, &text, &err)) {
        load_file(&ld, new_file(&ld, flow->path, &text), (Spot){NULL, 0, 0});
    } else if (err.code == ERR_LIMIT) {
        YamlFile *file = yaml_file(ld.arena, flow->path, "", 0);
        report_at(&reporter, (Spot){file, 0, 0}, "%s", err.msg);
    } else {
        report_file(&reporter, flow->path, "%s", err.msg);
    }
    buf_clear(&text);
    json_unref(ld.ignored);
    if (!reporter_end(&reporter)) {
        flow_unref(flow);
        return NULL;
    }
    keep_kind_folders(&ld);
    flow->main = impl->graphs[0];
    flow->graphs = (const Graph *const *)impl->graphs;
    flow->ngraphs = impl->ngraphs;
    flow->nexprs = impl->nexprs;
    flow->name = flow->main->name;
    for (size_t i = 0; i < flow->ngraphs; i++) {
        flow->has_tasks = flow->has_tasks || flow->graphs[i]->scoped;
    }
    return flow;
}

Flow *flow_ref(Flow *flow) {
    ((FlowImpl *)flow)->refs++;
    return flow;
}

void flow_unref(Flow *f) {
    FlowImpl *flow = (FlowImpl *)f;
    if (!flow || --flow->refs > 0) return;
    for (size_t i = 0; i < flow->nexprs; i++) jq_program_free(flow->exprs[i]->expr.program);
    for (size_t i = 0; i < flow->nkept; i++) json_unref(flow->kept[i]);
    for (size_t i = 0; i < flow->nnets; i++) net_policy_free(flow->nets[i]);
    json_unref(flow->flow.secrets);
    mem_free(flow->exprs);
    mem_free(flow->nets);
    mem_free(flow->kept);
    mem_free(flow->graphs);
    mem_free(flow->files);
    arena_free(flow->arena);
    mem_free(flow);
}

bool flow_needs_checkpointer(const Flow *f, FlowProblems *problems) {
    const FlowImpl *flow = (const FlowImpl *)f;
    if (!f->has_interrupts || f->main->checkpointer || f->main->checkpoint_dir) return false;
    if (problems) {
        Reporter reporter = reporter_start(problems, NULL);
        report_at(&reporter, flow->first_interrupt,
                  "Interrupts are defined (`%s`) but there is no checkpointer: set "
                  "`config.checkpoint_dir` for files or `config.checkpointer` (memory, file or "
                  "sqlite), or name a store when it is run.",
                  flow->first_interrupt_text);
    }
    return true;
}

void flow_problem_add(const Flow *f, FlowProblems *problems, const char *path, int line, int col,
                      const char *sentence) {
    const FlowImpl *flow = (const FlowImpl *)f;
    const YamlFile *file = NULL;
    Reporter reporter = reporter_start(problems, NULL);
    for (size_t i = 0; i < flow->nfiles && !file; i++) {
        file = strcmp(flow->files[i]->path, path) == 0 ? flow->files[i]->yaml : NULL;
    }
    if (!file || line < 1 || (size_t)line > file->nlines) {
        report_file(&reporter, path, "%s", sentence);
        return;
    }
    size_t at = file->lines[line - 1];
    size_t end = (size_t)line < file->nlines ? file->lines[line] - 1 : file->len;
    if (col) {
        at += utf8_offset(file->text + at, end - at, (size_t)col - 1);
        end = at;
    }
    while (at < end && file->text[at] == ' ') at++;
    report_at(&reporter, (Spot){.file = file, .at = at, .end = end}, "%s", sentence);
}

/* ---- another version of a node ---- */

/* Its file is no longer that of its graph: so it is known, and that its expressions are elsewhere. */
static void stand_at(Arena *arena, Node *node, const Node *written) {
    for (size_t i = 0; i < node->kind->nparams; i++) {
        const Param *param = &node->params[i];
        const Param *as = node->kind == written->kind ? &written->params[i] : NULL;
        const Graph *g = param->graph, *graph_as = as ? as->graph : NULL;
        for (size_t k = 0; g && strcmp(g->file, node->graph->file) == 0 && k < g->nnodes; k++) {
            const Node *there = graph_as ? graph_node(graph_as, g->nodes[k].name_json) : NULL;
            stand_at(arena, &g->nodes[k], there ? there : written);
        }
        if (param->node) stand_at(arena, (Node *)param->node, as && as->node ? as->node : written);
    }
    node->file = arena_strndup(arena, written->file, strlen(written->file));
    node->line = written->line;
    node->col = written->col;
    node->end_line = written->end_line;
}

void flow_stand_in(Flow *f, const Node *written) {
    if (f->main->nnodes) stand_at(((FlowImpl *)f)->arena, &f->main->nodes[0], written);
}

static void move_node(Node *node, uint32_t by) {
    for (; node; node = (Node *)node_body(node)) node->id += by;
}

void flow_renumber(Flow *f, FlowNumbers first) {
    FlowImpl *flow = (FlowImpl *)f;
    uint32_t exprs = first.exprs - f->first_expr, nodes = first.nodes - f->first_node;
    for (size_t i = 0; i < flow->nexprs; i++) flow->exprs[i]->expr.id += exprs;
    for (size_t i = 0; i < flow->ngraphs; i++) {
        const Graph *graph = flow->graphs[i];
        for (size_t k = 0; k < graph->nnodes; k++) move_node(&graph->nodes[k], nodes);
    }
    f->first_expr = first.exprs;
    f->first_node = first.nodes;
}

/* ---- definitions ---- */

Json flow_definition(const Flow *f) {
    const FlowImpl *flow = (const FlowImpl *)f;
    Json files = json_object();
    for (size_t i = 0; i < flow->nfiles; i++) {
        const LoadedFile *file = flow->files[i];
        files = json_object_with(files, file->path, json_string(file->bytes, file->len));
    }
    Json folders = json_array();
    for (size_t i = 0; i < flow->nkinds_given; i++) {
        folders = json_array_push(folders, json_string_c(flow->kinds[i]));
    }
    bool none = !json_array_len(folders);
    if (none) json_clear(&folders);
    return OBJECT(KEY("main", f->path), KEY("files", files), KEY("kinds", folders));
}

Flow *flow_load_definition(Json definition, FlowProblems *problems) {
    return flow_load_definition_inside(definition, &(FlowAround){0}, problems);
}

Flow *flow_load_definition_inside(Json definition, const FlowAround *around,
                                  FlowProblems *problems) {
    bool object = json_kind(definition) == JSON_OBJECT;
    Json path = object ? json_object_get_c(definition, "main") : json_none();
    Json files = object ? json_object_get_c(definition, "files") : json_none();
    if (json_kind(path) != JSON_STRING || json_kind(files) != JSON_OBJECT) {
        Reporter reporter = reporter_start(problems, NULL);
        report_file(&reporter, "(definition)", "The stored definition is damaged.");
        return NULL;
    }
    FlowFiles stored = {files, "The file is not part of the stored definition."};
    FlowReader reader = flow_files_reader(&stored);
    Json folders = json_object_get_c(definition, "kinds");
    size_t n =
        json_array_len(folders) < FLOW_FOLDERS_MAX ? json_array_len(folders) : FLOW_FOLDERS_MAX;
    char **names = mem_zalloc((n + 1) * sizeof *names);
    for (size_t i = 0; i < n; i++) {
        Json folder = json_array_get(folders, i); /* a short text lives in its value */
        names[i] = mem_strdup(json_kind(folder) == JSON_STRING ? json_string_data(&folder) : "");
    }
    reader.kinds = (const char *const *)names;
    reader.nkinds = n;
    reader.whole = around->whole;
    Flow *flow = flow_load_inside(json_string_data(&path), &reader, around, problems);
    for (size_t i = 0; i < n; i++) mem_free(names[i]);
    mem_free(names);
    return flow;
}
