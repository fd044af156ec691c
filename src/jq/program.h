/* program.h - what the compiler makes and the machine runs. Internal to jq/.
 *
 * A program is a list of functions; function 0 is the expression itself. A function runs in a
 * frame: register 0 is its input, the next ones are the closures it was given, the rest holds
 * variables and intermediate values.
 *
 * Outputs are produced by backtracking: an instruction that can go on in more than one way leaves a
 * fork, and when everything behind it is exhausted the machine comes back to the last fork.
 * Registers are not restored then. That is sound because the compiler never reuses a register, nor
 * moves a value out of one, while a fork could lead back to code that still reads it (see "Epochs"
 * in compiler.h). Registers that are changed on purpose between two passes (the state of a reduce,
 * a counter) are how loops carry something along.
 */
#ifndef PAWL_JQ_PROGRAM_H
#define PAWL_JQ_PROGRAM_H

#include "arena.h"
#include "jq.h"
#include "jq_native.h"
#include "opcodes.h"

/* An operand is the number of a register, or of a constant when OPERAND_CONST is set. OPERAND_TAKE:
 * this is the last use, so the value is moved out of the register (which then holds null). */
enum {
    OPERAND_CONST = 1 << 30,
    OPERAND_TAKE = 1 << 29,
    OPERAND_NUMBER = OPERAND_TAKE - 1,
};

enum {
    INSTR_OPTIONAL = 1, /* an error backtracks instead: .a? */
    INSTR_COPY = 2,     /* lift_path: leave the value where it is */
};

typedef struct Instr {
    uint8_t op;
    uint8_t flags;
    uint16_t n;
    uint32_t dst, a, b, c;
    uint32_t pos; /* in the text, for messages */
} Instr;

typedef struct Func {
    uint32_t entry;
    uint32_t nregs;
    uint32_t nparams;
} Func;

/* In the operand pool, a call has: levels out to the frame that encloses the callee, then for each
 * closure a pair: CLOSURE_NEW and a function of this frame, or levels out and its register. */
enum { CLOSURE_NEW = 0x7FFFFFFF };

struct JqProgram {
    Arena *arena;
    Instr *code;
    size_t ncode;
    Func *funcs;
    size_t nfuncs;
    uint32_t *operands;
    Json *constants;
    size_t nconstants;
    const JqNative **natives;
    JqFormatFn *formats;
    size_t nvars; /* host variables, in registers 1.. of function 0 */
    unsigned effects;
    bool exact;  /* JqOptions.exact */
    Json fields; /* of JqOptions.fields_only */
    char *text;
    size_t len;
    int line, col; /* of the text's start in its file */
};

/* Line and column in the file of a position in the text. */
void program_locate(const JqProgram *p, uint32_t pos, int *line, int *col);

/* ---- functions written in the language itself (prelude.c) ---- */

typedef struct Prelude {
    const char *name;
    int arity;
    const char *source; /* one def; inlined where it is called, so no parameter may occur twice */
} Prelude;

const Prelude *prelude_find(const char *name, size_t len, int arity); /* NULL when there is none */
const Prelude *prelude_at(size_t i);                                  /* NULL past the last */

/* ---- forms the compiler knows (compile_calls.c) and natives (native.c), for listings ---- */

const char *form_name(size_t i, int *arity); /* NULL past the last */
const JqNative *native_at(size_t i);         /* over all tables; NULL past the last */

#endif
