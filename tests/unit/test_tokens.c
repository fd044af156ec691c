/* Tokens: made once, kept as hashes, found in constant time, ended by being revoked and by time. */
#define _GNU_SOURCE /* mkdtemp */
#include "tokens.h"

#include "json_build.h"
#include "json_test.h"
#include "mem.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char folder[] = "/tmp/pawl-tokens-XXXXXX";

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pawl-tokens-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? no_bytes_left(state) : -1;
}

static void make(const char *name, const char *scope, int64_t expires, char text[TOKEN_TEXT]) {
    Error err = ERROR_INIT;
    Json entry = tokens_make(folder, &(TokenMake){name, scope, expires}, text, &err);
    if (json_is_none(entry)) fail_msg("%s", err.msg);
    json_unref(entry);
}

static bool finds(TokenSet *set, const char *text, const char *name) {
    TokenOwner owner;
    bool found = token_set_find(set, text, strlen(text), &owner);
    if (found) assert_string_equal(owner.name, name);
    return found;
}

static void a_token_is_found_and_nothing_else(void **state) {
    char one[TOKEN_TEXT], two[TOKEN_TEXT], other[TOKEN_TEXT + 1];
    TokenOwner owner;
    (void)state;
    TokenSet *set = token_set_new(folder);
    assert_false(finds(set, "pawl_0123456789012345678901234567890123456789012", ""));
    token_set_free(set);
    make("one", "read", 0, one);
    make("two", "admin", 0, two);
    assert_int_equal(strlen(one), TOKEN_TEXT - 1);
    assert_memory_equal(one, "pawl_", 5);
    assert_string_not_equal(one, two);
    set = token_set_new(folder);
    assert_true(finds(set, one, "one") && finds(set, two, "two"));
    for (size_t i = 0; i < TOKEN_TEXT - 1; i++) {
        memcpy(other, one, TOKEN_TEXT);
        other[i] = other[i] == 'x' ? 'y' : 'x';
        assert_false(finds(set, other, ""));
    }
    snprintf(other, sizeof other, "%sx", one);
    assert_false(finds(set, other, ""));
    assert_false(token_set_find(set, one, TOKEN_TEXT - 2, &owner));
    assert_false(finds(set, "", ""));
    assert_true(token_set_find(set, two, TOKEN_TEXT - 1, &owner));
    assert_string_equal(owner.scope, "admin");
    assert_true(token_set_has(set, owner.id));
    assert_false(token_set_has(set, "t99"));
    token_set_free(set);
}

static void what_is_kept_lets_nobody_in(void **state) {
    char text[TOKEN_TEXT], path[64], kept[2000];
    (void)state;
    make("ci", "run", 0, text);
    snprintf(path, sizeof path, "%s/tokens", folder);
    FILE *f = fopen(path, "r");
    kept[fread(kept, 1, sizeof kept - 1, f)] = '\0';
    fclose(f);
    expect_contains(kept, "\"ci\"");
    assert_null(strstr(kept, text + 5));
    Json list = tokens_list(folder, NULL);
    assert_int_equal(json_array_len(list), 1);
    assert_true(json_is_none(json_object_get_c(json_array_get(list, 0), "hash")));
    json_unref(list);
}

static void names_are_checked(void **state) {
    static const char *const bad[] = {
        "",
        "a\nb",
        "\x7f",
        "\xff",
        "t1",
        "t007",
        "0123456789012345678901234567890123456789012345678901234567890"};
    char text[TOKEN_TEXT];
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        Error err = ERROR_INIT;
        expect_gives(tokens_make(folder, &(TokenMake){bad[i], "read", 0}, text, &err), "(none)");
        assert_int_equal(err.code, ERR_USAGE);
    }
    make("t", "read", 0, text);
    make("t1x", "read", 0, text);
    Error err = ERROR_INIT;
    expect_gives(tokens_make(folder, &(TokenMake){"t", "read", 0}, text, &err), "(none)");
    assert_int_equal(err.code, ERR_EXISTS);
    error_clear(&err);
    expect_gives(tokens_make(folder, &(TokenMake){"old", "read", 1}, text, &err), "(none)");
    assert_int_equal(err.code, ERR_USAGE);
}

static void they_end(void **state) {
    char one[TOKEN_TEXT], two[TOKEN_TEXT], brief[TOKEN_TEXT];
    Error err = ERROR_INIT;
    (void)state;
    make("one", "read", 0, one);
    make("two", "read", 0, two);
    make("brief", "read", ((int64_t)time(NULL) + 2) * 1000, brief);
    TokenSet *set = token_set_new(folder);
    assert_true(finds(set, one, "one") && finds(set, brief, "brief"));
    assert_true(tokens_revoke(folder, "one", &err));
    assert_true(tokens_revoke(folder, "t2", &err));
    assert_false(tokens_revoke(folder, "one", &err));
    assert_int_equal(err.code, ERR_NOT_FOUND);
    sleep(3);
    assert_false(finds(set, one, "") || finds(set, two, "") || finds(set, brief, ""));
    assert_false(token_set_has(set, "t1") || token_set_has(set, "t3"));
    token_set_free(set);
}

/* The one entry of the file; given. */
static Json kept_entry(void) {
    char path[64], text[2000];
    snprintf(path, sizeof path, "%s/tokens", folder);
    FILE *f = fopen(path, "r");
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    Json all = parse(text);
    Json entry = json_ref(json_array_get(json_object_get_c(all, "tokens"), 0));
    json_unref(all);
    return entry;
}

/* A set in which that entry is at that place among n. */
static TokenSet *set_with(Json entry, size_t place, size_t n) {
    char own[64], path[80];
    Json list = json_array();
    for (size_t i = 0; i < n; i++) {
        Json other = OBJECT(KEY("id", json_string_fmt("t%zu", i + 10)),
                            KEY("name", json_string_fmt("other-%zu", i)), KEY("scope", "read"),
                            KEY("hash", json_string_fmt("%064zx", i)),
                            KEY("created", "2026-01-01T00:00:00.000Z"));
        list = json_array_push(list, i == place ? json_ref(entry) : json_ref(other));
        json_unref(other);
    }
    Json all = OBJECT(KEY("format", json_int(1)), KEY("last", (int64_t)n), KEY("tokens", list));
    char *text = json_to_text(all);
    snprintf(own, sizeof own, "%s/%zu", folder, place);
    mkdir(own, 0700);
    snprintf(path, sizeof path, "%s/tokens", own);
    FILE *f = fopen(path, "w");
    fputs(text, f);
    fclose(f);
    chmod(path, 0600);
    mem_free(text);
    json_unref(all);
    return token_set_new(own);
}

/* The processor time that it takes to look for a token, in nanoseconds, where it is less than *least. The second time, so that it
 * was looked just now whether the file has changed: else of two that alternate one would always find that out for both. */
static void note_time(TokenSet *set, const char *text, int64_t *least) {
    struct timespec from, to;
    TokenOwner owner;
    token_set_find(set, text, strlen(text), &owner);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
    token_set_find(set, text, strlen(text), &owner);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
    int64_t took = (to.tv_sec - from.tv_sec) * 1000000000 + to.tv_nsec - from.tv_nsec;
    if (took < *least) *least = took;
}

static void expect_same_time(const int64_t times[2]) {
    int64_t more = times[times[0] < times[1]], less = times[times[0] >= times[1]];
    if (more > 2 * less) fail_msg("%lld ns and %lld ns", (long long)more, (long long)less);
}

/* Neither which of them it is nor how much of it is right. */
static void the_time_tells_nothing(void **state) {
    enum { TOKENS = 500, ROUNDS = 300 };
    char text[TOKEN_TEXT], wrong[2][TOKEN_TEXT];
    int64_t right[2] = {INT64_MAX, INT64_MAX}, refused[2] = {INT64_MAX, INT64_MAX};
    TokenSet *sets[2];
    (void)state;
    make("one", "read", 0, text);
    Json entry = kept_entry();
    for (int i = 0; i < 2; i++) {
        sets[i] = set_with(entry, i ? TOKENS - 1 : 0, TOKENS);
        memcpy(wrong[i], text, sizeof text);
        wrong[i][i ? TOKEN_TEXT - 2 : 0] ^= 1;
        assert_true(finds(sets[i], text, "one"));
        assert_false(finds(sets[i], wrong[i], ""));
    }
    for (int n = 0; n < ROUNDS; n++) {
        for (int i = 0; i < 2; i++) {
            note_time(sets[i], text, &right[i]);
            note_time(sets[1], wrong[i], &refused[i]);
        }
    }
    for (int i = 0; i < 2; i++) token_set_free(sets[i]);
    json_unref(entry);
    expect_same_time(right);
    expect_same_time(refused);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_token_is_found_and_nothing_else, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_kept_lets_nobody_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_time_tells_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(they_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
