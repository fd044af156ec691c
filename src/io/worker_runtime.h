/* worker_runtime.h - the texts of sdk/ that workers run, made into C by tools/embed. */
#ifndef PAWL_WORKER_RUNTIME_H
#define PAWL_WORKER_RUNTIME_H

#include <stddef.h>

extern const char worker_runtime_python[]; /* sdk/python/pawl/__init__.py */
extern const size_t worker_runtime_python_len;
extern const char worker_runtime_javascript[]; /* sdk/javascript/index.js */
extern const size_t worker_runtime_javascript_len;

#endif
