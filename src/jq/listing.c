/* listing.c - what there is: the functions of the language, the code of a program. */
#include "program.h"

#include "json_print.h"

#include <stdio.h>

static Json add_name(Json list, const char *name, int arity) {
    return name[0] == '_' ? list : json_array_push(list, json_string_fmt("%s/%d", name, arity));
}

Json jq_builtins(void) {
    Json list = json_array();
    const char *name;
    int arity;
    for (size_t i = 0; (name = form_name(i, &arity)); i++) {
        list = add_name(list, name, arity);
    }
    const Prelude *row;
    for (size_t i = 0; (row = prelude_at(i)); i++) {
        list = add_name(list, row->name, row->arity);
    }
    const JqNative *native;
    for (size_t i = 0; (native = native_at(i)); i++) {
        list = add_name(list, native->name, native->arity);
    }
    return list;
}

/* ---- code ---- */

#define OPCODE_TEXT(name, text, what) text,
static const char *const op_text[] = {JQ_OPCODES(OPCODE_TEXT)};
#undef OPCODE_TEXT

static void dump_operand(const JqProgram *p, uint32_t x, Buf *out) {
    if (x & OPERAND_CONST) {
        char text[JSON_DESCRIBE_MAX];
        buf_printf(out, " %s", json_excerpt(p->constants[x & OPERAND_NUMBER], text));
    } else {
        buf_printf(out, " r%u%s", x & OPERAND_NUMBER, x & OPERAND_TAKE ? "!" : "");
    }
}

void jq_program_dump(const JqProgram *p, Buf *out) {
    for (size_t at = 0; at < p->ncode; at++) {
        for (size_t i = 0; i < p->nfuncs; i++) {
            if (p->funcs[i].entry == at) {
                buf_printf(out, "function %zu (%u registers)\n", i, p->funcs[i].nregs);
            }
        }
        const Instr *in = &p->code[at];
        buf_printf(out, "%5zu  %-13s r%u <-", at, op_text[in->op], in->dst);
        dump_operand(p, in->a, out);
        dump_operand(p, in->b, out);
        buf_printf(out, " c=%u n=%u%s\n", in->c, in->n, in->flags & INSTR_OPTIONAL ? " ?" : "");
    }
}
