#include "fault.h"

#ifdef PAWL_FAULTS

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PLACES_MAX = 32 };

typedef struct Place {
    char name[32];
    long passed;
    const char *action; /* a word up to '@', in the environment; NULL: none asked for */
    long at;
    bool onward;
} Place;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Place places[PLACES_MAX];
static int nplaces;
static const char *count_file;
static bool started;

static void write_counts(void) {
    FILE *out = fopen(count_file, "w");
    if (!out) return;
    for (int i = 0; i < nplaces; i++) fprintf(out, "%s %ld\n", places[i].name, places[i].passed);
    fclose(out);
}

static Place *place_of(const char *name, size_t len) {
    for (int i = 0; i < nplaces; i++) {
        if (!strncmp(places[i].name, name, len) && !places[i].name[len]) return &places[i];
    }
    if (nplaces == PLACES_MAX || len >= sizeof places[0].name) {
        fputs("pawl: PAWL_FAULT names too many places, or too long ones.\n", stderr);
        abort();
    }
    memcpy(places[nplaces].name, name, len);
    return &places[nplaces++];
}

static void start(void) {
    const char *text = getenv("PAWL_FAULT");
    started = true;
    if (text && !strncmp(text, "count:", 6)) {
        count_file = text + 6;
        atexit(write_counts);
        return;
    }
    while (text && *text) {
        const char *colon = strchr(text, ':'), *at = strchr(text, '@');
        if (!colon || !at || at < colon) {
            fprintf(stderr, "pawl: PAWL_FAULT takes NAME:ACTION@N, not `%s`.\n", text);
            abort();
        }
        Place *place = place_of(text, (size_t)(colon - text));
        char *end;
        place->action = colon + 1;
        place->at = strtol(at + 1, &end, 10);
        place->onward = *end == '+';
        text = strchr(text, ',');
        text += text ? 1 : 0;
    }
}

static bool is_action(const char *action, const char *word) {
    size_t len = strlen(word);
    return !strncmp(action, word, len) && action[len] == '@';
}

static int act(const char *action) {
    if (is_action(action, "kill")) {
        kill(getpid(), SIGKILL);
        pause();
    }
    if (is_action(action, "slow")) {
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
        return 0;
    }
    return is_action(action, "enospc") ? ENOSPC : is_action(action, "short") ? FAULT_SHORT : EIO;
}

int fault_point(const char *name) {
    pthread_mutex_lock(&lock);
    if (!started) start();
    Place *place = place_of(name, strlen(name));
    place->passed++;
    bool hit = place->action &&
               (place->passed == place->at || (place->onward && place->passed > place->at));
    const char *action = place->action;
    pthread_mutex_unlock(&lock);
    return hit ? act(action) : 0;
}

#else

typedef int FaultUnused; /* a translation unit is not to be empty */

#endif
