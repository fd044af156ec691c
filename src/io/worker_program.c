#include "worker_program.h"

#include "mem.h"
#include "worker_runtime.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define PYTHON_BOOT                                            \
    "import os,json,sys,types\n"                               \
    "t=b''\n"                                                  \
    "while b'\\n' not in t:\n"                                 \
    " p=os.read(3,65536)\n"                                    \
    " if not p:os._exit(0)\n"                                  \
    " t+=p\n"                                                  \
    "h,_,t=t.partition(b'\\n')\n"                              \
    "h=json.loads(h)\n"                                        \
    "m=sys.modules['pawl']=types.ModuleType('pawl')\n"         \
    "exec(compile(h['runtime'],'<pawl>','exec'),m.__dict__)\n" \
    "m._start(3,h,t)\n"

#define JAVASCRIPT_BOOT                                                                           \
    "let t=Buffer.alloc(0),p=Buffer.alloc(65536),n,i;"                                            \
    "while((i=t.indexOf(10))<0){n=require('fs').readSync(3,p);if(!n)process.exit(0);"             \
    "t=Buffer.concat([t,p.subarray(0,n)])}"                                                       \
    "const h=JSON.parse(t.subarray(0,i)),m={exports:{}};"                                         \
    "require('vm').compileFunction(h.runtime,['exports','require','module'],{filename:'<pawl>'})" \
    "(m.exports,require,m);"                                                                      \
    "m.exports._start(3,h,t.subarray(i+1),s=>import(s))"

const WorkerInterpreter worker_interpreters[WORKER_LANGUAGES] = {
    /* -I: nothing from the folder it is in, the user's own, or PYTHON... variables. From 3.11 on -P, too. */
    [WORKER_PYTHON] = {.name = "Python",
                       .variable = "PAWL_PYTHON",
                       .program = "python3",
                       .options = {"-I", "-c"},
                       .boot = PYTHON_BOOT,
                       .runtime = worker_runtime_python,
                       .runtime_len = &worker_runtime_python_len},
    /* Before 20.10 import() in code needs the option; later it changes nothing for us. */
    [WORKER_JAVASCRIPT] = {.name = "Node.js",
                           .variable = "PAWL_NODE",
                           .program = "node",
                           .options = {"--experimental-vm-modules", "-e"},
                           .boot = JAVASCRIPT_BOOT,
                           .runtime = worker_runtime_javascript,
                           .runtime_len = &worker_runtime_javascript_len,
                           .data_slack = (uint64_t)1 << 30,
                           .heap_is_fixed = true},
};

static char *copy_text(const char *text) {
    return text ? mem_strndup(text, strlen(text)) : NULL;
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : a == b;
}

void worker_program_clear(WorkerProgram *p) {
    mem_free(p->realm);
    mem_free(p->home);
    mem_free(p->file);
    p->realm = p->home = p->file = NULL;
}

bool worker_program_same_file(const WorkerProgram *a, const WorkerProgram *b) {
    return a->language == b->language && a->heap == b->heap && same_text(a->file, b->file) &&
           same_text(a->realm, b->realm) && same_text(a->home, b->home);
}

bool worker_program_same(const WorkerProgram *a, const WorkerProgram *b) {
    return worker_program_same_file(a, b) && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->changed == b->changed;
}

WorkerProgram worker_program_copy(const WorkerProgram *p) {
    WorkerProgram copy = *p;
    copy.realm = copy_text(p->realm);
    copy.home = copy_text(p->home);
    copy.file = copy_text(p->file);
    return copy;
}

bool worker_program_init(WorkerProgram *program, const WorkerOptions *options, uint64_t memory,
                         Error *err) {
    struct stat st;
    *program = (WorkerProgram){.language = options->language};
    int why = 0;
    if (options->file) {
        why = stat(options->file, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EISDIR;
    }
    if (why) {
        return error_set(err, ERR_IO, "Cannot read the program %s: %s.", options->file,
                         strerror(why));
    }
    if (worker_interpreters[options->language].heap_is_fixed) program->heap = memory;
    program->realm = copy_text(options->realm ? options->realm : "");
    program->home = copy_text(options->home);
    if (!options->file) return true;
    program->device = (uint64_t)st.st_dev;
    program->inode = (uint64_t)st.st_ino;
    program->size = (uint64_t)st.st_size;
    program->changed = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    program->file = copy_text(options->file);
    return true;
}
