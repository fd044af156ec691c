/* compiler.h - syntax tree to program. Internal to jq/.
 *
 * The compiler is a machine too: a stack of tasks, one for each node under way, so that nesting
 * costs memory and not C stack. Every kind of node has a step function; it is called with the
 * task's phase counted up each time, and either visits a child (whose result is in c->result at the
 * next phase), turns into another node (become), or finishes with a value (done).
 *
 *   compiler.c          tasks, registers, code, scopes, functions
 *   compile_nodes.c     terms and operators
 *   compile_bind.c      variables, patterns, reduce and foreach
 *   compile_update.c    path(), = |= += //=
 *   compile_calls.c     functions: defined here, forms, prelude, natives
 *
 * Epochs. Each fork that is emitted starts a new epoch. A value computed in an epoch and used in
 * the same one is used exactly once for each time it is computed, so its last use may move it out
 * of the register, which may then hold something else. Across a fork that is not so: the code
 * behind the fork runs again for every output. Where a construct has consumed all forks inside it
 * (collecting an array, reduce, first), the epoch it began in comes back.
 */
#ifndef PAWL_JQ_COMPILER_H
#define PAWL_JQ_COMPILER_H

#include "ast.h"
#include "program.h"

#include <setjmp.h>

/* Where a value is while we compile. */
typedef struct Val {
    uint32_t operand; /* register or constant */
    bool temp;        /* nobody else will use it */
    bool pinned;      /* its register is not to be reused (another branch may read it too) */
} Val;

/* A function under construction. */
typedef struct FuncBuild {
    const struct FuncBuild *parent;
    uint32_t number;
    const Node *params; /* PARAMs of a def; NULL for a closure */
    const Node *body;
    const struct Scope *scope; /* what the body sees, parameters not included */
    bool prelude;
    uint32_t pos; /* where prelude code is called from */
    bool wanted;
    struct FuncBuild *next; /* in the queue */
} FuncBuild;

typedef enum ScopeKind {
    SCOPE_VAR,
    SCOPE_LABEL,
    SCOPE_FUNC,
    SCOPE_CLOSURE,
    SCOPE_INLINE
} ScopeKind;

/* One name in sight; a chain of them, innermost first. */
typedef struct Scope {
    const struct Scope *up;
    ScopeKind kind;
    const char *name;
    uint32_t name_len;
    uint32_t arity;         /* of FUNC */
    const FuncBuild *owner; /* whose frame the register is in */
    uint32_t reg;           /* of VAR, LABEL, CLOSURE */
    FuncBuild *func;        /* of FUNC */
    const Node *node;       /* of INLINE: the argument, and what it sees */
    const struct Scope *env;
    bool env_prelude;
    uint32_t env_pos;
    uint32_t depth;
} Scope;

/* How far the code had come, to ask later what has happened since. */
typedef struct Moment {
    uint32_t epoch;
    uint32_t backtracks;
} Moment;

struct Compiler;
struct Task;
typedef void (*StepFn)(struct Compiler *c, struct Task *t);

typedef struct Task {
    const Node *node;
    StepFn step; /* that of the node's kind, or what a call turned out to be */
    const Scope *scope;
    Val in;
    bool tail;     /* its value is what the function returns */
    bool optional; /* an access with a `?` behind it */
    bool prelude;
    uint16_t phase;
    uint32_t pos;      /* for messages */
    uint32_t path_off; /* register pair to restore path tracking from when done; 0: none */
    /* what the step functions keep between phases */
    Val x, y;
    uint32_t r1, r2, r3;    /* registers */
    uint32_t at1, at2, at3; /* places in the code */
    uint32_t doomed_at;     /* where an update's list of paths to delete starts, if it has one */
    Moment began, updating;
    size_t base; /* of c->vals */
    const Node *it, *it2;
    const Scope *inner;
    const void *row; /* of a table */
    uint32_t count;
} Task;

typedef struct Compiler {
    Syntax *syntax;
    Arena *arena; /* of the compiler's own structures */
    JqProgram *program;
    jmp_buf fail;
    Error *err;
    bool tracks; /* the program follows paths somewhere */

    Task *tasks;
    size_t ntasks, tasks_cap;
    Val result;

    FuncBuild *func; /* being compiled */
    FuncBuild *queue, **queue_end;
    Func *funcs;
    size_t nfuncs, funcs_cap;

    uint32_t *reg_epoch; /* of the current function: when each register was last defined */
    size_t nregs, regs_cap;
    uint32_t *free_regs;
    size_t nfree, free_cap;
    uint32_t epoch, last_epoch;
    uint32_t backtracks; /* emitted so far; tells whether a piece of code may give nothing */

    Instr *code;
    size_t ncode, code_cap;
    uint32_t label_at; /* highest jump target so far: no peephole across it */
    uint32_t *operands;
    size_t noperands, operands_cap;
    Json *constants;
    size_t nconstants, constants_cap;
    const JqNative **natives;
    size_t nnatives, natives_cap;
    JqFormatFn *formats;
    size_t nformats, formats_cap;
    Val *vals; /* evaluated parts waiting for their instruction */
    size_t nvals, vals_cap;

    unsigned effects;
    const Scope *fields_only; /* the variable of which only fields may be taken; NULL: none */
    const Node *field_taken;  /* where it stands in front of one */
    Json fields;              /* that were taken */
    Syntax *preludes;         /* parsed on demand */
    const Prelude **prelude_rows;
    size_t npreludes, preludes_cap, prelude_rows_cap;
} Compiler;

/* Fails where a variable of which only fields may be taken stands for itself. */
void check_whole(Compiler *c, uint32_t pos, const Node *n, const Scope *s);

/* ---- tasks: after visit, become or done, t is no longer valid ---- */

void visit(Compiler *c, const Node *node, Val in); /* in the scope of the current task */
void visit_tail(Compiler *c, const Node *node,
                Val in); /* in tail position if the current task is */
void visit_value(Compiler *c, const Node *node, Val in); /* not followed as part of a path */
void become(Compiler *c, const Node *node, const Scope *scope, Val in);
/* The same for a node that was written elsewhere: an argument of inlined prelude code, or that
 * code. */
void become_foreign(Compiler *c, const Node *node, const Scope *scope, Val in, bool prelude,
                    uint32_t pos);
uint32_t paths_off(Compiler *c);            /* 0 when the program follows no paths */
void paths_on(Compiler *c, uint32_t saved); /* saved may be 0 */
void need_paths(Compiler *c);               /* starts over if we are not following paths yet */
void done(Compiler *c, Val result);
void fail_at(Compiler *c, uint32_t pos, const char *fmt, ...)
    __attribute__((noreturn, format(printf, 3, 4)));

/* ---- values and registers ---- */

Val val_const(Compiler *c, Json value); /* consumes value */
Val val_shared(Val v);                  /* v, for somebody who is not its last user */
/* in, for its last user, while `pending` waits to be used: shared if they are in the same
 * register. */
Val val_last(Val in, Val pending);
uint32_t reg_new(Compiler *c);   /* defined now */
uint32_t reg_fresh(Compiler *c); /* the same, and never used before in this function */
uint32_t reg_pair(Compiler *c);
void reg_defined(Compiler *c, uint32_t reg);
uint32_t use(Compiler *c, Val v); /* the operand for a value that is read now */
void new_epoch(Compiler *c);
Moment moment_now(const Compiler *c);
/* What was emitted since gives exactly one output: it neither forks nor backtracks. */
bool moment_lasts(const Compiler *c, Moment m);
/* Every fork since then is used up. */
void moment_return(Compiler *c, Moment m);

/* ---- code ---- */

/* Adds an instruction and returns where it is; fields not named in `in` are zero. */
uint32_t emit(Compiler *c, Instr in);
Val emit_def(Compiler *c, Instr in); /* with a new register as dst */
void emit_backtrack(Compiler *c);
void patch_here(Compiler *c, uint32_t at); /* makes `at` jump to the next instruction */
/* Brings v into register dst, by changing the instruction that made it where that is possible. */
void deliver(Compiler *c, Val v, uint32_t dst);
uint32_t pool_add(Compiler *c, uint32_t operand);
void push_val(Compiler *c, Val v);

/* ---- scopes ---- */

Scope *scope_add(Compiler *c, const Scope *up, ScopeKind kind, const Node *name);
const Scope *scope_var(Compiler *c, const Scope *up, const Node *name, uint32_t reg);
const Scope *scope_find(const Scope *s, ScopeKind kind, const char *name, size_t len);
const Scope *scope_find_func(const Scope *s, const char *name, size_t len, uint32_t arity);
uint32_t levels_to(Compiler *c, const FuncBuild *owner);
Val load_reg(Compiler *c,
             const Scope *s); /* the register of a VAR or LABEL, fetched if it is outside */

FuncBuild *func_new(Compiler *c, const Node *params, const Node *body, const Scope *scope,
                    const Task *from);
void func_want(Compiler *c, FuncBuild *f);

/* ---- steps (each file's) ---- */

extern const StepFn compile_steps[NODE_KIND_COUNT];
void step_call(Compiler *c, Task *t);
void step_def(Compiler *c, Task *t);
void step_bind(Compiler *c, Task *t);
void step_reduce(Compiler *c, Task *t);
void step_foreach(Compiler *c, Task *t);
void step_patterns(Compiler *c, Task *t);
void step_pattern_array(Compiler *c, Task *t);
void step_pattern_object(Compiler *c, Task *t);
void step_pattern_var(Compiler *c, Task *t);
void step_assign(Compiler *c, Task *t);
void step_update(Compiler *c, Task *t);
void step_path(Compiler *c, Task *t);

#endif
