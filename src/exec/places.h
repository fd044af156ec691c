/* places.h - what commands leave outside of this process: the folders of step_place().
 *
 * The rows of kinds that run commands name these functions, so that the engine can have what is kept of an
 * attempt removed without knowing what it is (step.h). Both block for as long as the file system and, where
 * a command still runs, its end take.
 */
#ifndef PAWL_EXEC_PLACES_H
#define PAWL_EXEC_PLACES_H

#include "step.h"

void place_forget(const char *place);
void places_sweep(const WorkSweep *sweep);

/* Of a NodeWork whose attempts have places. */
#define PLACES_WORK .forget = place_forget, .sweep = places_sweep

#endif
