/* commands_rows.h - the read functions of the rows of debug_words[], by the file that has them: a group of
 * commands each. */
#ifndef PAWL_COMMANDS_ROWS_H
#define PAWL_COMMANDS_ROWS_H

#include "command_reader.h"

/* ---- commands_breakpoints.c ---- */

bool read_break(WordReader *r, Order *o, Error *err);
bool read_tbreak(WordReader *r, Order *o, Error *err);
bool read_logpoint(WordReader *r, Order *o, Error *err);
bool read_catch(WordReader *r, Order *o, Error *err);
bool read_condition(WordReader *r, Order *o, Error *err);
bool read_hits(WordReader *r, Order *o, Error *err);
bool read_group(WordReader *r, Order *o, Error *err);
bool read_ignore(WordReader *r, Order *o, Error *err);
bool read_selection(WordReader *r, Order *o, Error *err);
bool read_enable(WordReader *r, Order *o, Error *err);
bool read_disable(WordReader *r, Order *o, Error *err);
bool read_watch(WordReader *r, Order *o, Error *err);
bool read_id_or_all(WordReader *r, Order *o, Error *err);

/* ---- commands_running.c ---- */

bool read_nothing(WordReader *r, Order *o, Error *err);
bool read_frame_if_any(WordReader *r, Order *o, Error *err);
bool read_frame_or_all(WordReader *r, Order *o, Error *err);
bool read_next(WordReader *r, Order *o, Error *err);
bool read_step(WordReader *r, Order *o, Error *err);
bool read_finish(WordReader *r, Order *o, Error *err);
bool read_back(WordReader *r, Order *o, Error *err);
bool read_skip(WordReader *r, Order *o, Error *err);
bool read_goto(WordReader *r, Order *o, Error *err);
bool read_answer(WordReader *r, Order *o, Error *err);

/* ---- commands_looking.c ---- */

bool read_print(WordReader *r, Order *o, Error *err);
bool read_state(WordReader *r, Order *o, Error *err);
bool read_summary(WordReader *r, Order *o, Error *err);
bool read_search(WordReader *r, Order *o, Error *err);
bool read_limit(WordReader *r, Order *o, Error *err);
bool read_diff(WordReader *r, Order *o, Error *err);
bool read_config(WordReader *r, Order *o, Error *err);
bool read_history(WordReader *r, Order *o, Error *err);
bool read_graph(WordReader *r, Order *o, Error *err);
bool read_list(WordReader *r, Order *o, Error *err);
bool read_info(WordReader *r, Order *o, Error *err);

/* ---- commands_changing.c ---- */

bool read_setting(WordReader *r, Order *o, Error *err);
bool read_unset(WordReader *r, Order *o, Error *err);
bool read_inject(WordReader *r, Order *o, Error *err);
bool read_uninject(WordReader *r, Order *o, Error *err);

/* ---- commands_session.c ---- */

bool read_option(WordReader *r, Order *o, Error *err);
bool read_extend(WordReader *r, Order *o, Error *err);
bool read_replay(WordReader *r, Order *o, Error *err);
bool read_export(WordReader *r, Order *o, Error *err);
bool read_help(WordReader *r, Order *o, Error *err);
bool read_abort(WordReader *r, Order *o, Error *err);

#endif
