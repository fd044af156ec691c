#include "place.h"

#include "json_build.h"

#include "mem.h"
#include "options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The digits behind the last @, or NULL. */
static const char *digits_of(const char *text) {
    const char *at = strrchr(text, '@');
    bool digits = at && at[1] && strspn(at + 1, "0123456789") == strlen(at + 1);
    return digits ? at + 1 : NULL;
}

bool place_parse(const Command *command, const char *text, Place *out) {
    const char *digits = digits_of(text);
    size_t len = digits ? (size_t)(digits - 1 - text) : strlen(text);
    *out = (Place){0};
    if (len == 0) {
        return options_complain(command, "`%s` names no thread; it is THREAD or THREAD@SEQ.", text);
    }
    if (!digits && text[len - 1] == '@') {
        return options_complain(
            command, "`%s` has no checkpoint after the @; it is THREAD or THREAD@SEQ.", text);
    }
    errno = 0;
    int64_t seq = digits ? strtoll(digits, NULL, 10) : 0;
    if (errno || (digits && seq == 0)) {
        return options_complain(command, "there is no checkpoint %s; the first is 1.", digits);
    }
    *out = (Place){mem_strndup(text, len), seq};
    return true;
}

void place_clear(Place *place) {
    mem_free(place->thread);
    *place = (Place){0};
}

bool place_argument(const Command *command, const char *text, Place *out) {
    if (out->thread) {
        return options_complain(command, "it takes one thread, but was given `%s` too.", text);
    }
    return place_parse(command, text, out);
}

bool place_thread_name(const Command *command, const char *name) {
    if (name[0] == '-') {
        return options_complain(command, "a thread cannot be called `%s`: that reads as an option.",
                                name);
    }
    if (digits_of(name)) {
        return options_complain(command,
                                "a thread cannot be called `%s`: what ends in @ and a number names "
                                "a checkpoint (THREAD@SEQ).",
                                name);
    }
    return true;
}

Json place_args(const Place *place) {
    return OBJECT(KEY("thread", place->thread),
                  KEY("checkpoint", place->seq ? json_int(place->seq) : json_none()));
}
