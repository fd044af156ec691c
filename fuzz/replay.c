/* replay.c - runs a fuzz target over files, without libFuzzer.
 *
 *     replay_NAME FOLDER...
 *
 * Every file in the folders is given to the target once, in order of name; each is a case in TAP.
 * A finding ends the program, as it would end the fuzzer, and the last line printed names the file.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *read_file(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        return NULL;
    }
    char *data = NULL;
    if (fseek(file, 0, SEEK_END) == 0) {
        long end = ftell(file);
        rewind(file);
        /* Exactly as large as the file: a read past its end is then one past the block. */
        data = end >= 0 ? malloc(end > 0 ? (size_t)end : 1) : NULL;
        *size = data ? fread(data, 1, (size_t)end, file) : 0;
    }
    fclose(file);
    return data;
}

static int is_case(const struct dirent *entry) {
    return entry->d_name[0] != '.';
}

static int replay_file(const char *folder, const char *name, int number) {
    char path[4096];
    size_t size = 0;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *data = read_file(path, &size);
    if (!data) {
        printf("not ok %d - %s: cannot be read\n", number, name);
        return 1;
    }
    printf("# %s\n", name);
    fflush(stdout);
    LLVMFuzzerTestOneInput((const uint8_t *)data, size);
    printf("ok %d - %s\n", number, name);
    free(data);
    return 0;
}

int main(int argc, char **argv) {
    int failed = 0;
    int number = 0;
    for (int i = 1; i < argc; i++) {
        struct dirent **entries = NULL;
        int count = scandir(argv[i], &entries, is_case, alphasort);
        for (int j = 0; j < count; j++) {
            failed += replay_file(argv[i], entries[j]->d_name, ++number);
            free(entries[j]);
        }
        free(entries);
    }
    printf("1..%d%s\n", number, number ? "" : " # SKIP the corpus is empty");
    return failed ? 1 : 0;
}
