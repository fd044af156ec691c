/* machine.h - the machine's state, and what its parts do for each other. Internal to jq/.
 *
 *   run.c       life of a run, its errors, its budget; jq_run_next()
 *   stack.c     frames and forks: calling, returning, going back, cutting
 *   operate.c   what single instructions do: access, iteration, comparison, construction
 *   machine.c   the loop over instructions
 *
 * State. `slots` is one stack of frames. A frame has two header slots and then its registers:
 *
 *     fp-2   depth | caller's fp, where to go on in the caller
 *     fp-1   registers in this frame | fp of the enclosing function's frame, where the result goes
 *     fp     register 0 (the input), 1, 2 ...
 *
 * `forks` is the stack of places to come back to. A fork protects everything below the `top` it was
 * made at: a frame that returns is dropped at once when no fork was made since it was entered, and
 * is left in place otherwise. Going back to a fork drops what was pushed since.
 *
 * Kinds of fork:
 *     PLAIN      go on at pc
 *     TRY        on an error go on at the handler; on backtracking just go
 *     EXIT       we are outside the try at index pc now: errors skip it and all inside it
 *     ALTERNATE  on an error go on at pc's target; on backtracking just go
 *     LABEL      a mark for cut and break
 *
 * Paths. While `path` is an array (and not JSON_NONE), accesses append to it, and `path_value` is
 * the value it leads to. An access to anything else than that very value is not a path expression.
 *
 * Budget. Every instruction takes one unit of fuel, natives take more. When the fuel is used up,
 * refill() looks at the clock of the budget: steps, memory, cancellation, the caller's slice.
 *
 * Operations on large values run apart, on a fiber (base/fiber.h), when the run is sliced: a slice may end in the
 * midst of one, wherever it charges or breathes (json_breath.h). The machine stands at its instruction meanwhile.
 *
 * Memory. What the run holds is estimated as the growth of the thread's JSON heap while it was
 * running. That also counts outputs that the caller has long released, so before giving up,
 * recount() adds up what the machine really holds; there, parts that several values share count
 * each time, so it errs on the side of the budget.
 */
#ifndef PAWL_JQ_MACHINE_H
#define PAWL_JQ_MACHINE_H

#include "fiber.h"
#include "program.h"

typedef enum ForkKind { FORK_PLAIN, FORK_TRY, FORK_EXIT, FORK_ALTERNATE, FORK_LABEL } ForkKind;

typedef struct Fork {
    uint32_t pc;
    uint32_t fp;
    uint32_t top;
    uint32_t serial;
    ForkKind kind;
    Json path, path_value;
} Fork;

typedef enum RunState { RUN_IDLE, RUN_GO, RUN_BACKTRACK } RunState;

typedef struct Kept {
    void (*free_fn)(void *);
    void *p;
} Kept;

enum { KEPT_MAX = 4 }; /* kinds of things that natives keep */

struct JqRun {
    const JqProgram *program;
    JqHost host;
    RunState state;
    uint32_t pc, fp, top;
    Json *slots;
    size_t slots_cap;
    Fork *forks;
    size_t nforks, forks_cap;
    uint32_t serial;
    Json path, path_value;

    int64_t fuel;       /* until the next look at the budget */
    int64_t fuel_given; /* at the last look */
    uint64_t steps;     /* used before the last look */
    uint64_t slice_end;
    int64_t heap_base; /* heap that is not ours */
    uint64_t handed;   /* size of the outputs since then, which the caller may have released */
    uint64_t given;    /* size of the input and variables, which are not ours either */
    size_t heap_at_exit;

    const Json *args; /* of the native function that is under way, which recount() could not see */
    size_t nargs;
    size_t args_heap; /* the thread's heap when it was called */

    /* An operation on large values, apart: see machine.c. */
    Fiber *apart;
    const Instr *apart_of;
    Json apart_value; /* that it came to */
    size_t
        apart_heap; /* the thread's heap when it gave way, without what others did since it began */
    bool to_apart;  /* a native is to be called again there, with these arguments */
    Json apart_args[JQ_NATIVE_ARITY_MAX + 1];
    bool on_fiber;  /* it runs now */
    bool abandoned; /* and is to end soon, whatever it comes to */

    bool used;        /* since it was reset */
    bool failed_hard; /* not to be caught: budget or cancellation */
    bool paused;
    bool off_path; /* the error is that of a path expression: a question mark does not hide it */
    Json raised;
    Error error;
    Buf scratch;
    Json *values; /* operands of one instruction */
    size_t values_cap;
    Kept kept[KEPT_MAX];
    size_t nkept;
};

enum {
    CALL_COST = 7,
    FUEL_CHUNK = 4096,
    FRAME_HEADER = 2,
    SLOT_LIMIT = 1 << 28,
    FORK_LIMIT = 1 << 28
};

/* ---- run.c ---- */

/* Ends the run for a reason that the expression cannot catch; returns false. */
bool run_fail_hard(JqRun *m, ErrorCode code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Looks at the budget when the fuel is used up; false when the run is over. Sets m->paused. */
bool run_refill(JqRun *m);
/* Of an operation that is apart: the slice is over. */
void run_breathe(JqRun *m);
static inline uint64_t run_limit_depth(const JqRun *m) {
    return m->host.budget.depth ? m->host.budget.depth : JQ_DEFAULT_DEPTH;
}

/* ---- machine.c ---- */

JqStatus machine_execute(JqRun *m, Json *out);
/* Ends an operation that is apart; accepts that none is. */
void machine_abandon(JqRun *m);

/* ---- stack.c ---- */

typedef struct Header {
    uint32_t caller, pc, env, dst, depth;
} Header;

/* A frame at the top, its registers empty. False (after run_fail_hard) when there is no room. */
bool frame_push(JqRun *m, const Func *f, Header h);
uint32_t frame_env(const JqRun *m, uint32_t fp,
                   uint32_t levels); /* the frame that many levels out */
/* The three calls; each consumes input. False after run_fail_hard. */
bool frame_call(JqRun *m, const Instr *in, Json input);
bool frame_tail_call(JqRun *m, const Instr *in, Json input);
bool frame_call_closure(JqRun *m, const Instr *in, Json input);
void frame_return(JqRun *m, Json value);

void slots_drop(JqRun *m, uint32_t top);
void fork_drop(JqRun *m, size_t n);
bool fork_grow(JqRun *m);
Json fork_mark(const JqRun *m);     /* stands for the last fork */
bool fork_cut(JqRun *m, Json mark); /* forgets that fork and all after it; false after jq_fail */
bool fork_end_try(JqRun *m, Json mark); /* errors from here on are not those of that try */
bool fork_catch(JqRun *m); /* goes to whoever catches the error; false when nobody does */

static inline bool fork_push(JqRun *m, ForkKind kind, uint32_t pc) {
    if (m->nforks == m->forks_cap && !fork_grow(m)) return false;
    Fork *f = &m->forks[m->nforks++];
    f->pc = pc;
    f->fp = m->fp;
    f->top = m->top;
    f->serial = ++m->serial;
    f->kind = kind;
    f->path = json_ref(m->path);
    f->path_value = json_ref(m->path_value);
    return true;
}

/* Back to how things were when the last fork was made; the fork is gone. Returns its pc. */
static inline uint32_t fork_pop(JqRun *m) {
    const Fork *f = &m->forks[--m->nforks];
    if (m->top != f->top) slots_drop(m, f->top);
    m->fp = f->fp;
    if (json_tag(m->path) | json_tag(f->path)) {
        json_unref(m->path);
        json_unref(m->path_value);
        m->path = f->path;
        m->path_value = f->path_value;
    }
    return f->pc;
}

/* ---- operate.c: each gives JSON_NONE or false after raising an error ---- */

/* Whether a path is being followed. */
static inline bool following(const JqRun *m) {
    return !json_is_none(m->path);
}

/* A key of an object, which most accesses are of. */
static inline bool is_field(Json target, Json key) {
    return json_tag(target) == JSON_TAG_OBJECT &&
           (json_tag(key) == JSON_TAG_SHORT_STRING || json_tag(key) == JSON_TAG_STRING);
}

static inline Json field(Json object, Json key) {
    Json v = json_object_get(object, key);
    return json_is_none(v) ? json_null() : json_ref(v);
}

bool check_access(JqRun *m, Json target, Json key);
bool check_result(JqRun *m, Json result);
void extend_path(JqRun *m, Json key, Json value);
void keep_path(JqRun *m, Json *pair, Json path, Json value);
void restore_path(JqRun *m, const Json *pair);

Json do_index(JqRun *m, Json target, Json key);
Json do_slice(JqRun *m, Json target, Json from, Json to);
bool do_each(JqRun *m, Json target, Json *counter);
Json each_element(JqRun *m, Json target, Json *counter);
bool settle_bound(JqRun *m, Json *bound);
int check_limit(JqRun *m, Json n);
Json do_equal(JqRun *m, Json a, Json b, bool negated);
Json do_compare(JqRun *m, Opcode op, Json a, Json b);
Json do_concat(JqRun *m, const Json *parts, size_t n);
bool keys_are_strings(JqRun *m, const Json *pairs, size_t n);
Json do_get_path(JqRun *m, Json target, Json path);

#endif
