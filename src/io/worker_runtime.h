/* worker_runtime.h - the texts that interpreters run, made into C by tools/embed. */
#ifndef PAWL_WORKER_RUNTIME_H
#define PAWL_WORKER_RUNTIME_H

#include <stddef.h>

extern const char worker_runtime_python[]; /* sdk/python/pawl/__init__.py */
extern const size_t worker_runtime_python_len;
extern const char worker_runtime_javascript[]; /* sdk/javascript/index.js */
extern const size_t worker_runtime_javascript_len;
extern const char worker_runtime_task[]; /* src/exec/task_runner.js */
extern const size_t worker_runtime_task_len;

#endif
