/* store_run.h - a run in a store, without an engine. */
#ifndef PAWL_TESTS_STORE_RUN_H
#define PAWL_TESTS_STORE_RUN_H

#include "store.h"

/* Makes a run (durable on return) and takes its lease: a batch with nothing but that. */
static inline bool store_create_run(Store *s, const char *thread, const char *workflow,
                                    const char *definition, RunRow *out, Error *err) {
    StoreBatch b = STORE_BATCH_INIT;
    *out = (RunRow){0};
    store_batch_create(&b, &(StoreCreate){.stand_in = -1,
                                          .thread = thread,
                                          .workflow = workflow,
                                          .definition = json_none(),
                                          .key = definition});
    bool ok = (!thread || store_check_thread(thread, err)) && store_commit(s, &b, err) &&
              store_batch_made(s, &b, 0, out, err);
    store_batch_clear(&b);
    return ok;
}

#endif
