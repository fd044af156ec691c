/* commands_complete.c - what could stand at the cursor. */
#include "command_reader.h"

#include <string.h>

static const char *find_if(const char *text, const char *end) {
    for (const char *at = text; at + 3 <= end; at++) {
        bool begins = at == text || word_is_blank(at[-1]);
        if (begins && at[0] == 'i' && at[1] == 'f' && word_is_blank(at[2])) {
            return at + 3;
        }
    }
    return NULL;
}

/* Behind the blank at `at`, in the line that begins at `line`. */
static WordCompletion offer(WordOffers offers, const char *line, const char *at) {
    return (WordCompletion){.offers = offers, .from = (size_t)(at - line)};
}

static WordCompletion offer_words(const Word *w, const char *line, const char *at,
                                  const char *end) {
    bool config = !strcmp(w->name, "config") && end - at > 4 && !memcmp(at, "set ", 4);
    const char *condition = !strcmp(w->name, "catch") ? find_if(at, end) : NULL;
    if (config) {
        return offer(OFFERS_PATH, line, at + 4);
    }
    if (condition) {
        return offer(OFFERS_NOTHING, line, at);
    }
    WordCompletion c = offer(OFFERS_WORDS, line, at);
    c.words = w->words;
    for (const char *blank = at; blank < end; blank++) {
        if (word_is_blank(*blank)) {
            c.offers = OFFERS_NOTHING;
        }
    }
    return c;
}

static WordCompletion offer_arguments(const Word *w, const char *line, const char *at,
                                      const char *end) {
    const char *condition = w->offers == OFFERS_NODE ? find_if(at, end) : NULL;
    bool value = w->offers == OFFERS_PATH && memchr(at, '=', (size_t)(end - at));
    if (w->offers == OFFERS_WORDS) {
        return offer_words(w, line, at, end);
    }
    if (condition) {
        return offer(OFFERS_EXPRESSION, line, condition);
    }
    return offer(value ? OFFERS_NOTHING : w->offers, line, at);
}

WordCompletion words_completion(const char *line, size_t cursor) {
    WordReader r = {.at = line, .end = line + cursor};
    Piece name = reader_at_end(&r) ? (Piece){r.at, 0} : reader_name(&r);
    if (name.len && name.text[0] == '.') {
        return offer(OFFERS_EXPRESSION, line, name.text);
    }
    if (name.text + name.len == r.end) {
        return offer(OFFERS_COMMAND, line, name.text);
    }
    const Word *word = words_find(name.text, name.len, NULL);
    r.at += name.len;
    reader_skip_blanks(&r);
    return word ? offer_arguments(word, line, r.at, r.end) : offer(OFFERS_NOTHING, line, r.at);
}
