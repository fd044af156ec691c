/* model.h - what is said to a model and what it says back: two wire formats, as pure functions.
 *
 *     model_question(&question, &body);                       the body of the request
 *     ModelReader *reader = model_reader_new(format, on_text, ctx);
 *     while (bytes come) if (!model_read(reader, bytes, len)) break;
 *     const ModelAnswer *answer = model_reader_end(reader);   ... answer->end says what it is worth
 *     model_reader_free(reader);
 *
 * MODEL_MESSAGES is the Messages format ({model, max_tokens, system, messages}), MODEL_CHAT that of
 * chat completions ({model, messages, max_tokens}). A reader takes the body of an answer with a status
 * of 2xx in pieces of any size and finds out by itself whether it is a stream of server-sent events or
 * one JSON document, since there are servers that give one where the other was asked for. It tells
 * text as soon as it is whole; what is no text (thinking, calls of tools) is passed over.
 *
 * Nothing here asks anybody, waits or keeps time. Everything is bounded: an event, a document, the
 * text, the depth of the JSON. Bytes of any kind do no harm.
 */
#ifndef PAWL_MODEL_H
#define PAWL_MODEL_H

#include "error.h"
#include "json.h"

enum {
    MODEL_TEXT_MAX = 16 << 20,  /* bytes of text in one answer */
    MODEL_EVENT_MAX = 1 << 20,  /* bytes of one event, and of one line, of a stream */
    MODEL_BODY_MAX = 32 << 20,  /* bytes of an answer that is one document */
    MODEL_ERROR_MAX = 64 << 10, /* bytes of the body of an error that are worth reading */
    MODEL_DEPTH_MAX = 100,      /* nesting of JSON */
};

/* In the order of the words of the parameter `format`. */
typedef enum ModelFormat {
    MODEL_MESSAGES,
    MODEL_CHAT,
} ModelFormat;

/* What an answer is worth. */
typedef enum ModelEnd {
    MODEL_ANSWERED,
    MODEL_TRUNCATED,    /* it reached max_tokens: the text is a part of an answer */
    MODEL_REFUSED,      /* the model, or a filter behind it, would not answer */
    MODEL_EMPTY,        /* no text */
    MODEL_BROKEN,       /* not in the format, or ended in the middle */
    MODEL_TOO_LONG,     /* over one of the limits above */
    MODEL_RATE_LIMITED, /* 429 */
    MODEL_OVERLOADED,   /* 503, 529 */
    MODEL_FAILED,       /* an error of the server: 500 */
    MODEL_SLOW,         /* the server says that time was up: 408, 504 */
    MODEL_REJECTED,     /* the request itself: 400, 404 */
    MODEL_NO_ACCESS,    /* the key: 401, 403 */
    MODEL_ENDS,
} ModelEnd;

/* A short word ("refusal", "rate_limit") for .error.kind. */
const char *model_end_name(ModelEnd end);
/* Whether the same question may get a better answer later. */
bool model_end_passes(ModelEnd end);

/* ---- asking ---- */

typedef struct ModelQuestion {
    ModelFormat format;
    Json model, prompt; /* strings; borrowed */
    Json system;        /* a string, or JSON_NONE */
    int64_t max_tokens;
    bool stream;
} ModelQuestion;

void model_question(const ModelQuestion *question, Buf *out);

/* ---- the answer ---- */

typedef struct ModelAnswer {
    ModelEnd end;
    Json text;                 /* what there is of it, whatever the end */
    Json model, stop, usage;   /* as the API said them; JSON_NONE when it did not */
    char error[ERROR_MSG_MAX]; /* a sentence; "" when answered */
} ModelAnswer;

typedef struct ModelReader ModelReader;

/* on_text gets the text as it comes, in whole characters; it may be NULL. */
ModelReader *model_reader_new(ModelFormat format,
                              void (*on_text)(void *ctx, const char *text, size_t len), void *ctx);
void model_reader_free(ModelReader *reader); /* accepts NULL */

/* False when nothing that may follow matters any more: the answer is whole, or wrong. */
bool model_read(ModelReader *reader, const char *bytes, size_t len);

/* Nothing more comes. Borrowed, until the reader is freed. */
const ModelAnswer *model_reader_end(ModelReader *reader);

/* What a status other than 2xx means, and a sentence made of it and of what the body says. */
ModelEnd model_error(int status, const char *body, size_t len, char *sentence, size_t size);

#endif
