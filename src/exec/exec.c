#include "exec.h"

#include "mem.h"
#include "utf8.h"

#include <stdarg.h>

#define STEERS(x)
#define READS(x) extern const NodeWork exec_##x;
#define WAITS
#define CALLS
#define COMPUTES(x)                   extern const NodeWork exec_##x;
#define WORKS(x)                      extern const NodeWork exec_##x;
#define KIND(id, of, name, does, ...) does
#define PARAM(...)
#define END
#include "kind_rows.h"

#define STEERS(x)                     NULL
#define READS(x)                      &exec_##x
#define WAITS                         NULL
#define CALLS                         NULL
#define COMPUTES(x)                   &exec_##x
#define WORKS(x)                      &exec_##x
#define KIND(id, of, name, does, ...) [KIND_##id] = does,
#define PARAM(...)
#define END

const NodeWork *const exec_work[KIND_COUNT] = {
#include "kind_rows.h"
};

void exec_fail_with(Step *step, const char *otherwise, const Error *err) {
    const char *kind = err->code == ERR_LIMIT       ? "limit"
                       : err->code == ERR_CANCELLED ? "cancelled"
                                                    : otherwise;
    step_fail_with(step, kind, err);
}

void exec_fail_late(Step *step) {
    step_fail(step, "timeout", json_none(), "It took longer than its timeout of %g s.",
              (double)step_timeout_ms(step) / 1000);
}

bool exec_param_text(Step *step, int param, Buf *out, Error *err) {
    const Expr *expr = step_param(step, param)->expr;
    if (!expr || step_text(step, expr, out, err)) return true;
    error_wrap(err, "%s", step_node(step)->kind->params[param].name);
    return false;
}

bool exec_size_fits(Step *step, int param, int64_t most, Error *err) {
    return step_param(step, param)->number <= most ||
           error_set(err, ERR_LIMIT, "%s is more than %dM, which is the most that is kept.",
                     step_node(step)->kind->params[param].name, (int)(most >> 20));
}

bool exec_file(const Step *step, Buf *path, Error *err) {
    const SafeRoot *root = step_bounds(step)->root;
    if (!path->len) return true;
    if (path->data[0] != '/') {
        Buf whole = BUF_INIT;
        buf_printf(&whole, "%s/%s", step_folder(step), path->data);
        buf_clear(path);
        *path = whole;
    }
    if (!root) return true;
    char *inside = safe_root_path(root, path->data, err);
    if (!inside) return false;
    buf_reset(path);
    buf_adds(path, inside);
    mem_free(inside);
    return true;
}

void exec_note(Step *step, const char *fmt, ...) {
    Buf text = BUF_INIT, line = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    utf8_repair(&line, text.data ? text.data : "", text.len);
    buf_addc(&line, '\n');
    step_log(step, "log", line.data, line.len);
    buf_clear(&text);
    buf_clear(&line);
}
