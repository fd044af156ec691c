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
    [WORKER_PYTHON] = {"Python", "PAWL_PYTHON", "python3", PYTHON_BOOT, "-c", worker_runtime_python,
                       &worker_runtime_python_len, 0, false},
    [WORKER_JAVASCRIPT] = {"Node.js", "PAWL_NODE", "node", JAVASCRIPT_BOOT, "-e",
                           worker_runtime_javascript, &worker_runtime_javascript_len,
                           (uint64_t)1 << 30, true},
};

void worker_program_clear(WorkerProgram *p) {
    mem_free(p->file);
    p->file = NULL;
}

bool worker_program_same_file(const WorkerProgram *a, const WorkerProgram *b) {
    return a->language == b->language && a->heap == b->heap &&
           (a->file && b->file ? strcmp(a->file, b->file) == 0 : a->file == b->file);
}

bool worker_program_same(const WorkerProgram *a, const WorkerProgram *b) {
    return worker_program_same_file(a, b) && a->device == b->device && a->inode == b->inode &&
           a->size == b->size && a->changed == b->changed;
}

WorkerProgram worker_program_copy(const WorkerProgram *p) {
    WorkerProgram copy = *p;
    if (p->file) copy.file = mem_strndup(p->file, strlen(p->file));
    return copy;
}

bool worker_program_init(WorkerProgram *program, const WorkerOptions *options, uint64_t memory,
                         Error *err) {
    struct stat st;
    *program = (WorkerProgram){.language = options->language};
    if (worker_interpreters[options->language].heap_is_fixed) program->heap = memory;
    if (!options->file) return true;
    int why = stat(options->file, &st) != 0 ? errno : S_ISREG(st.st_mode) ? 0 : EISDIR;
    if (why) {
        return error_set(err, ERR_IO, "Cannot read the program %s: %s.", options->file,
                         strerror(why));
    }
    program->device = (uint64_t)st.st_dev;
    program->inode = (uint64_t)st.st_ino;
    program->size = (uint64_t)st.st_size;
    program->changed = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    program->file = mem_strndup(options->file, strlen(options->file));
    return true;
}
