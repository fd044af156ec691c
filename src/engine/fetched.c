#include "fetched.h"

#include "image_read.h"
#include "mem.h"
#include "run_secrets.h"

/* ---- adding ---- */

static Fetched *keep(Run *run, int64_t number, Json definition, Flow *flow) {
    flow_renumber(flow, run->next_numbers);
    run->next_numbers = (FlowNumbers){flow->first_expr + (uint32_t)flow->nexprs,
                                      flow->first_node + (uint32_t)flow->nnodes};
    evaluator_add(run->evaluator, flow);
    run_secrets_add(run, flow);
    run->flows = mem_grow(run->flows, run->nflows, &run->flows_cap, sizeof *run->flows);
    run->flows[run->nflows++] = flow_ref(flow);
    Fetched *fetched = mem_zalloc(sizeof *fetched);
    *fetched = (Fetched){.number = number, .definition = definition, .flow = flow};
    run->fetched = mem_grow(run->fetched, run->nfetched, &run->fetched_cap, sizeof *run->fetched);
    run->fetched[run->nfetched++] = fetched;
    return fetched;
}

enum { FETCHED_DEPTH_MAX = 30 };

/* A test that calls itself under another name, or from a server, would go on for ever. */
static bool is_too_deep(const Frame *f) {
    size_t n = 0;
    for (; f; f = f->parent) {
        for (uint32_t i = 0; i < f->nlevels; i++) n += f->levels[i].fetched != NULL;
    }
    return n >= FETCHED_DEPTH_MAX;
}

static int64_t next_number(const Run *run) {
    int64_t last = 0;
    for (size_t i = 0; i < run->nfetched; i++) {
        last = run->fetched[i]->number > last ? run->fetched[i]->number : last;
    }
    return last + 1;
}

static Fetched *same_as(const Run *run, Json definition) {
    for (size_t i = 0; i < run->nfetched; i++) {
        if (json_equal(run->fetched[i]->definition, definition)) return run->fetched[i];
    }
    return NULL;
}

Fetched *fetched_add(const Frame *f, Flow *flow, Error *err) {
    Run *run = f->run;
    Json definition = flow_definition(flow);
    Fetched *fetched = same_as(run, definition);
    bool fits = is_too_deep(f) ? error_set(err, ERR_LIMIT,
                                           "Tests that call each other are nested more than %d "
                                           "levels deep: does `%s` call itself?",
                                           FETCHED_DEPTH_MAX, flow->path)
                               : fetched || value_fits_beside(run, definition, err);
    if (fits && !fetched) return keep(run, next_number(run), definition, flow);
    json_unref(definition);
    flow_unref(flow);
    return fits ? fetched : NULL;
}

/* ---- levels ---- */

void fetched_enter(Frame *f, Fetched *fetched) {
    frame_top(f)->fetched = fetched;
    fetched->levels++;
    json_put(&f->run->fetched_image, json_none());
}

void fetched_leave(Run *run, Fetched *fetched) {
    if (--fetched->levels) return;
    json_put(&run->fetched_image, json_none());
}

Fetched *fetched_of_flow(const Run *run, const Flow *flow) {
    for (size_t i = 0; i < run->nfetched; i++) {
        if (run->fetched[i]->flow == flow) return run->fetched[i];
    }
    return NULL;
}

Fetched *fetched_find(const Run *run, int64_t number) {
    for (size_t i = 0; i < run->nfetched; i++) {
        if (run->fetched[i]->number == number) return run->fetched[i];
    }
    return NULL;
}

/* ---- as the image has them ---- */

static Json made_image(const Run *run) {
    Json all = json_array();
    for (size_t i = 0; i < run->nfetched; i++) {
        const Fetched *fetched = run->fetched[i];
        if (!fetched->levels) continue;
        all = json_array_push(
            all,
            ARRAY([FETCHED_NUMBER] = json_int(fetched->number), [FETCHED_DEFINITION] =
                                                                    json_ref(fetched->definition)));
    }
    if (json_array_len(all)) return all;
    json_unref(all);
    return json_null();
}

/* Made once for many records, which are compared with each other. */
Json fetched_image(const Run *run) {
    if (!run->nfetched) return json_null();
    if (json_is_none(run->fetched_image)) json_put((Json *)&run->fetched_image, made_image(run));
    return json_ref(run->fetched_image);
}

/* The run has no levels: it is new here, or goes back to where other tests had those numbers. */
bool fetched_load(Run *run, Json image, Error *err) {
    for (size_t i = 0; i < json_array_len(image); i++) {
        Json one = json_array_get(image, i), definition = json_array_get(one, FETCHED_DEFINITION);
        int64_t number = image_int(one, FETCHED_NUMBER);
        Fetched *other = fetched_find(run, number), *same = same_as(run, definition);
        if (other && other != same) other->number = next_number(run);
        if (same) same->number = number;
        if (same) continue;
        FlowProblems problems = {0};
        FlowAround around = {.called = true};
        Flow *flow = flow_load_definition_inside(definition, &around, &problems);
        bool fits = flow && flow->main->scoped;
        if (fits) {
            keep(run, number, json_ref(definition), flow);
        } else {
            flow_unref(flow);
            error_set(err, ERR_DATA, "A test that the run has read does not load here: %s",
                      problems.n ? problems.items[0].msg : "it is damaged.");
        }
        flow_problems_clear(&problems);
        if (!fits) return false;
    }
    return true;
}

void fetched_free(Run *run) {
    for (size_t i = 0; i < run->nfetched; i++) {
        json_unref(run->fetched[i]->definition);
        flow_unref(run->fetched[i]->flow);
        mem_free(run->fetched[i]);
    }
    mem_free(run->fetched);
    json_unref(run->fetched_image);
}
