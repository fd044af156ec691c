/* run_secrets.h - the secrets that a run uses: by name in its workflow, by value only here.
 *
 * A workflow says $secrets.NAME where work is started (ParamInfo.secrets in flow/kind.h); the loader refuses it
 * everywhere else. So a value goes into the environment of a command or into a request, and into nothing that is
 * recorded. What comes back may hold it again: a command prints its environment, a server repeats a header. Whatever
 * work tells the engine (step.h) is therefore masked here first, before it is a result, an error, an event or a
 * line of a log.
 *
 * Values come from whoever made the engine (SecretSource), when they are first needed in this process, and are never
 * on record: the process that goes on with a run looks them up again. The values of a run are its own, so that no
 * run can find out by trying what another one's are.
 *
 * A run whose workflow uses no secrets has no RunSecrets, and pays for one look at a pointer.
 */
#ifndef PAWL_RUN_SECRETS_H
#define PAWL_RUN_SECRETS_H

#include "json_mask.h"
#include "run.h"

/* Before its first step: has the evaluator ask here. */
void run_secrets_init(Run *run);
void run_secrets_free(Run *run);
/* A flow was put into the run: what it uses is hidden from now on. */
void run_secrets_add(Run *run, const Flow *flow);

/* Whether those that an expression uses are there; NULL uses none. */
bool run_has_secrets(Run *run, const Expr *expr, Error *err);

/* While it is on, expressions see MASK_TEXT for every secret: for people who look at the config of a node. */
void run_secrets_show(Run *run, bool shown);

/* What hides the run's secrets; NULL: it uses none. */
const Mask *run_mask(Run *run);
/* A value without them. Consumes it. */
Json run_masked(Run *run, Json value, unsigned cut);

#endif
