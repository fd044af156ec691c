/* Python and JavaScript that workflows have in them is compiled, by the interpreter that would run it, and never run: the
 * code of a worker is ours, and that of the nodes is its state. */
#include "exec.h"
#include "json_build.h"
#include "mem.h"
#include "workers.h"

#include <string.h>

enum { COMPILES_MS = 20000 };

typedef struct Language {
    WorkerLanguage language;
    const char *called, *compiler;
} Language;

/* As the workers do it (sdk/), but for names that the code is given. Each gives a list: {} for what is fine, else its line
 * and a message. */
static const Language languages[] = {
    {WORKER_PYTHON, "Python",
     "import ast, warnings\n"
     "warnings.simplefilter('ignore')\n"
     "def look(source, word):\n"
     "    module = ast.parse(word + ' node(): pass')\n"
     "    module.body[0].body = ast.parse(source).body or module.body[0].body\n"
     "    compile(module, 'node', 'exec')\n"
     "def said(source):\n"
     "    try:\n"
     "        try:\n"
     "            look(source, 'def')\n"
     "        except SyntaxError:\n"
     "            if 'await' not in source and 'async' not in source: raise\n"
     "            look(source, 'async def')\n"
     "    except SyntaxError as e:\n"
     "        last = source.rstrip().count('\\n') + 1\n"
     "        return {'line': min(e.lineno or 1, last), 'message': str(e.msg)}\n"
     "    except (ValueError, RecursionError, MemoryError, OverflowError) as e:\n"
     "        return {'line': 1, 'message': str(e) or type(e).__name__}\n"
     "    return {}\n"
     "return [said(source) for source in state]\n"},
    {WORKER_JAVASCRIPT, "JavaScript",
     "const vm = require('vm');\n"
     "return state.map((source) => {\n"
     "  try {\n"
     "    new vm.Script(`(async function () {\\n${source}\\n})`, {filename: '<code>', lineOffset: -1});\n"
     "    return {};\n"
     "  } catch (e) {\n"
     "    const line = Number(/^<code>:(\\d+)/.exec(e.stack)?.[1]) || 1;\n"
     "    return {line: Math.min(line, source.trimEnd().split('\\n').length), message: e.message};\n"
     "  }\n"
     "});\n"},
};

typedef struct Compiling {
    const Node **nodes; /* of one language */
    size_t n, cap;
    Json sources, said;
    bool over;
} Compiling;

/* ---- which ---- */

/* The code of a node in a language; NULL: it has none, or it is known when it runs. */
static const Param *code_of(const Node *node, WorkerLanguage language) {
    bool is_python = language == WORKER_PYTHON;
    const Param *code = NULL;
    if (node->kind->id == (is_python ? KIND_PYTHON : KIND_JAVASCRIPT)) {
        code = &node->params[PYTHON_CODE];
    } else if (!is_python && node->kind->id == KIND_RUN_JAVASCRIPT &&
               json_string_is(node->params[RUN_JAVASCRIPT_NODE].value, "node")) {
        code = &node->params[RUN_JAVASCRIPT_SCRIPT];
    }
    return code && !code->open && json_kind(code->value) == JSON_STRING ? code : NULL;
}

static void gather(Compiling *c, const Flow *flow, WorkerLanguage language) {
    for (size_t g = 0; g < flow->ngraphs; g++) {
        for (size_t i = 0; i < flow->graphs[g]->nnodes; i++) {
            const Node *node = &flow->graphs[g]->nodes[i];
            while (node_body(node)) node = node_body(node);
            const Param *code = code_of(node, language);
            if (!code) continue;
            c->nodes = mem_grow(c->nodes, c->n, &c->cap, sizeof *c->nodes);
            c->nodes[c->n++] = node;
            c->sources = json_array_push(c->sources, json_ref(code->value));
        }
    }
}

/* ---- compiling ---- */

static void on_end(void *ctx, const WorkerResult *result) {
    Compiling *c = ctx;
    if (result->end == WORKER_RETURNED) c->said = json_ref(result->value);
    c->over = true;
}

static void on_late(uv_timer_t *timer) {
    Compiling *c = timer->data;
    c->over = true;
}

/* Without an interpreter, or when it takes too long, nothing is said. */
static void compile(Compiling *c, const Language *language, const char *const *environment) {
    uv_loop_t loop;
    uv_timer_t late;
    uv_loop_init(&loop);
    uv_timer_init(&loop, &late);
    late.data = c;
    uv_timer_start(&late, on_late, COMPILES_MS, 0);
    WorkerPool *pool = worker_pool_new(&loop, &(WorkerPoolOptions){.environment = environment});
    Json code = json_string(language->compiler, strlen(language->compiler));
    WorkerOptions options = {.language = language->language,
                             .code = code,
                             .state = c->sources,
                             .folder = "/",
                             .on_end = on_end,
                             .ctx = c};
    c->over = !worker_call(pool, &options, NULL);
    while (!c->over) uv_run(&loop, UV_RUN_ONCE);
    worker_pool_free(pool);
    uv_close((uv_handle_t *)&late, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    uv_loop_close(&loop);
    json_unref(code);
}

static void add_problems(const Compiling *c, const Language *language, const Flow *flow,
                         FlowProblems *problems) {
    for (size_t i = 0; i < c->n && i < json_array_len(c->said); i++) {
        Json said = json_array_get(c->said, i), line = json_object_get_c(said, "line");
        const char *message = json_object_text(said, "message");
        if (!message) continue;
        const Param *code = code_of(c->nodes[i], language->language);
        int64_t within = json_tag(line) == JSON_TAG_INT && line.i > 0 ? line.i : 1;
        int at = within > INT32_MAX / 2 ? code->line : code->line + (int)within - 1;
        Buf sentence = BUF_INIT;
        buf_printf(&sentence, "This is no %s: %s.", language->called, message);
        for (size_t k = 0; k < sentence.len; k++) {
            if ((unsigned char)sentence.data[k] < ' ') sentence.data[k] = ' ';
        }
        flow_problem_add(flow, problems, c->nodes[i]->file, at, at == code->line ? code->col : 0,
                         sentence.data);
        buf_clear(&sentence);
    }
}

void exec_check_scripts(const Flow *flow, const char *const *environment, FlowProblems *problems) {
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        Compiling c = {.sources = json_array(), .said = json_none()};
        gather(&c, flow, languages[i].language);
        if (c.n) compile(&c, &languages[i], environment);
        add_problems(&c, &languages[i], flow, problems);
        json_unref(c.sources);
        json_unref(c.said);
        mem_free(c.nodes);
    }
}
