/* opcodes.h - the instructions of the machine: one row each. Internal to jq/.
 *
 * OP(NAME, text for listings, what it does). Operands: dst is a register; a, b, c are registers or
 * constants as the text says (see program.h).
 */
#ifndef PAWL_JQ_OPCODES_H
#define PAWL_JQ_OPCODES_H

#define JQ_OPCODES(OP)                                                                            \
    OP(NOP, "nop", "nothing")                                                                     \
    OP(MOVE, "move", "dst = a")                                                                   \
    OP(LOAD_UP, "load_up", "dst = register a of the frame b levels out")                          \
    OP(NEGATE, "negate", "dst = -a")                                                              \
    OP(ADD, "add", "dst = a + b")                                                                 \
    OP(SUBTRACT, "subtract", "dst = a - b")                                                       \
    OP(MULTIPLY, "multiply", "dst = a * b")                                                       \
    OP(DIVIDE, "divide", "dst = a / b")                                                           \
    OP(MODULO, "modulo", "dst = a % b")                                                           \
    OP(EQ, "eq", "dst = a == b")                                                                  \
    OP(NE, "ne", "dst = a != b")                                                                  \
    OP(LT, "lt", "dst = a < b")                                                                   \
    OP(LE, "le", "dst = a <= b")                                                                  \
    OP(GT, "gt", "dst = a > b")                                                                   \
    OP(GE, "ge", "dst = a >= b")                                                                  \
    OP(TRUTH, "truth", "dst = whether a is neither false nor null")                               \
    OP(NOT, "not", "dst = whether a is false or null")                                            \
    OP(JUMP, "jump", "go on at c")                                                                \
    OP(JUMP_FALSE, "jump_false", "go on at c when a is false or null")                            \
    OP(JUMP_TRUE, "jump_true", "go on at c when a is neither")                                    \
    OP(INDEX, "index", "dst = a[b]")                                                              \
    OP(SLICE, "slice", "dst = a[b:c]")                                                            \
    OP(EACH, "each", "dst = every element of a in turn; register b counts; falls into each_next") \
    OP(EACH_NEXT, "each_next", "the next element")                                                \
    OP(RANGE, "range", "dst = every number from a up to b by c (in register n); into range_next") \
    OP(RANGE_NEXT, "range_next", "the next number")                                               \
    OP(ARRAY, "array", "dst = [a]")                                                               \
    OP(PUSH, "push", "dst, an array, gets a behind its last element")                             \
    OP(OBJECT, "object", "dst = object of the n pairs of operands at c")                          \
    OP(FORMAT, "format", "dst = a as format number b writes it")                                  \
    OP(CONCAT, "concat", "dst = the n strings of operands at c, joined")                          \
    OP(NATIVE, "native", "dst = native function a of the n operands at c, the first its input")   \
    OP(CALL, "call", "dst = every output of function a on input b; n closures at c")              \
    OP(TAIL_CALL, "tail_call", "the same, in place of this frame when nobody needs it any more")  \
    OP(CALL_CLOSURE, "call_closure",                                                              \
       "dst = every output of closure c (levels out, slot) on input b")                           \
    OP(RETURN, "return", "give a to the caller")                                                  \
    OP(FORK, "fork", "when all that follows is exhausted, go on at c")                            \
    OP(BACKTRACK, "backtrack", "go back to the last fork")                                        \
    OP(TRY, "try", "when an error is raised before the matching try_end, dst = it, go on at c")   \
    OP(TRY_END, "try_end", "errors from here on are not those of the try in register a")          \
    OP(ALTERNATE, "alternate", "when an error is raised later, go on at c")                       \
    OP(RAISE, "raise", "raise a as an error")                                                     \
    OP(LABEL, "label", "dst = a mark on the forks")                                               \
    OP(CUT, "cut", "forget every fork since mark a")                                              \
    OP(BREAK, "break", "cut a, then backtrack")                                                   \
    OP(LIMIT, "limit", "dst counts up; at a, cut b")                                              \
    OP(LIMIT_CHECK, "limit_check", "backtrack when a is 0; an error when it is negative")         \
    OP(PATH_BEGIN, "path_begin", "start to follow paths from a; dst and the next keep what was")  \
    OP(PATH_END, "path_end", "dst = the path to a; back to what b kept")                          \
    OP(PATH_OFF, "path_off", "do not follow paths for a while; dst and the next keep what was")   \
    OP(PATH_ON, "path_on", "follow paths again as a kept")                                        \
    OP(GET_PATH, "get_path", "dst = value at path b of a")                                        \
    OP(SET_PATH, "set_path", "dst = a with the value at path b replaced by c")                    \
    OP(LIFT_PATH, "lift_path", "dst = value at path b moved out of register a")                   \
    OP(DELETE_PATHS, "delete_paths", "dst = a without what is at the paths in b")                 \
    OP(ENV, "env", "dst = the environment that the host gives")

#define JQ_OPCODE_ENUM(name, text, what) OP_##name,
typedef enum Opcode { JQ_OPCODES(JQ_OPCODE_ENUM) OP_COUNT } Opcode;
#undef JQ_OPCODE_ENUM

#endif
