#include "run_secrets.h"

#include "json_build.h"
#include "mem.h"
#include "utf8.h"

enum {
    DERIVED_MIN = 8, /* bytes of a text that is made of a secret, and hidden as one */
};

struct RunSecrets {
    Json values; /* {NAME: value} of those that were looked for and are there */
    Mask *mask;
    bool looked; /* for all that the workflow uses */
};

static RunSecrets *secrets_of(Run *run) {
    if (!run->secrets) {
        run->secrets = mem_zalloc(sizeof *run->secrets);
        run->secrets->values = json_object();
        run->secrets->mask = mask_new();
    }
    return run->secrets;
}

/* ---- looking them up ---- */

static bool check_value(const Buf *value, const char *name, Error *err) {
    const char *wrong = NULL;
    if (value->len < MASK_MIN) {
        wrong = "has fewer than 4 bytes. One that short cannot be kept out of logs and results";
    } else if (utf8_valid_prefix(value->data, value->len) < value->len) {
        wrong = "is no text in UTF-8. What is not text can be kept as base64";
    } else if (memchr(value->data, '\0', value->len)) {
        wrong = "holds a NUL character";
    }
    if (wrong) error_set(err, ERR_SECRET, "The secret %s %s.", name, wrong);
    return !wrong || error_fact(err, "unfit", "true");
}

/* False with *err set. A value that was found stays. */
static bool find(Run *run, Json name, Error *err) {
    RunSecrets *s = secrets_of(run);
    const SecretSource *source = &run->engine->options.secrets;
    const char *text = json_string_data(&name);
    if (!json_is_none(json_object_get(s->values, name))) return true;
    Buf value = BUF_INIT;
    Error why = ERROR_INIT;
    bool found = source->find && source->find(source->ctx, text, &value, &why);
    bool fine = found && check_value(&value, text, &why);
    if (fine) {
        mask_add(s->mask, value.data, value.len);
        s->values = json_object_set(json_take(&s->values), json_ref(name),
                                    json_string(value.data, value.len));
    } else if (!found && why.code == ERR_NONE) {
        error_set(&why, ERR_SECRET, "There is no secret %s.", text);
    }
    if (!fine) error_fact(&why, "secret", text);
    if (!fine && err) *err = why;
    if (value.data) explicit_bzero(value.data, value.cap);
    buf_clear(&value);
    return fine;
}

void run_secrets_add(Run *run, const Flow *flow) {
    for (size_t i = 0; i < json_array_len(flow->secrets); i++) {
        find(run, json_array_get(flow->secrets, i), NULL);
    }
}

bool run_has_secrets(Run *run, const Expr *expr, Error *err) {
    for (size_t i = 0; expr && i < json_array_len(expr->secrets); i++) {
        if (!find(run, json_array_get(expr->secrets, i), err)) return false;
    }
    return true;
}

/* ---- for expressions ---- */

static Json values_for(void *ctx, const Expr *expr, Error *err) {
    Run *run = ctx;
    Json out = json_object();
    for (size_t i = 0; i < json_array_len(expr->secrets); i++) {
        Json name = json_array_get(expr->secrets, i);
        if (!run->secrets_shown && !find(run, name, err)) {
            json_unref(out);
            return json_none();
        }
        Json value = run->secrets_shown ? json_string_c(MASK_TEXT)
                                        : json_ref(json_object_get(run->secrets->values, name));
        out = json_object_set(out, json_ref(name), value);
    }
    return out;
}

/* A text in which the secret is not to be seen may be one itself: a password inside of a secret that is JSON. */
static void hide_derived(void *ctx, Json made) {
    Run *run = ctx;
    RunSecrets *s = run->secrets;
    Buf text = BUF_INIT;
    if (!s || run->secrets_shown || json_kind(made) != JSON_STRING ||
        json_string_len(made) < DERIVED_MIN) {
        return;
    }
    if (!mask_text(s->mask, json_string_data(&made), json_string_len(made), 0, &text)) {
        mask_add(s->mask, json_string_data(&made), json_string_len(made));
    }
    buf_clear(&text);
}

/* ---- a run's ---- */

void run_secrets_init(Run *run) {
    evaluator_set_secrets(run->evaluator, &(EvaluatorSecrets){values_for, hide_derived, run});
}

void run_secrets_free(Run *run) {
    if (!run->secrets) return;
    json_unref(run->secrets->values);
    mask_free(run->secrets->mask);
    mem_free(run->secrets);
    run->secrets = NULL;
}

void run_secrets_show(Run *run, bool shown) {
    run->secrets_shown = shown;
}

const Mask *run_mask(Run *run) {
    bool uses = run->secrets || !json_is_none(run->flow->secrets);
    if (!uses) return NULL;
    RunSecrets *s = secrets_of(run);
    if (!s->looked) {
        s->looked = true;
        run_secrets_add(run, run->flow);
    }
    return s->mask;
}

Json run_masked(Run *run, Json value, unsigned cut) {
    const Mask *mask = run_mask(run);
    return mask ? json_mask(mask, value, cut) : value;
}
