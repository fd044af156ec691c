#include "places.h"

#include "buf.h"
#include "process.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

void place_forget(const char *place) {
    process_forget(place);
}

/* A process died before it could tidy, or the run was cancelled after it did. */
void places_sweep(const WorkSweep *sweep) {
    char prefix[32];
    size_t len = (size_t)snprintf(prefix, sizeof prefix, "%lld-", (long long)sweep->run);
    DIR *dir = opendir(sweep->folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const char *name = entry->d_name;
        if (!strncmp(name, prefix, len) && !sweep->wants(sweep->ctx, name + len)) {
            Buf place = BUF_INIT;
            buf_printf(&place, "%s/%s", sweep->folder, name);
            process_stop_place(place.data, NULL);
            process_forget(place.data);
            buf_clear(&place);
        }
    }
    if (dir) {
        closedir(dir);
    }
}
