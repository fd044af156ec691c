/* Files that a store keeps: read whole, changed under a lock, refused when they are not ours or not whole. */
#define _GNU_SOURCE /* mkdtemp, asprintf */
#include "kept.h"

#include "json_build.h"
#include "json_test.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/pawl-kept-XXXXXX";
static KeptFile file;

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/pawl-kept-XXXXXX");
    file = (KeptFile){folder, "things", "The file with things", 200, 2, "{format: int, n: int}"};
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? no_bytes_left(state) : -1;
}

static void write_text(const char *text, mode_t mode) {
    char path[64];
    snprintf(path, sizeof path, "%s/things", folder);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT, mode);
    assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static Json add(void *ctx, Json old, Error *err) {
    int by = *(int *)ctx;
    if (by < 0) return json_none();
    if (by == 0) {
        error_set(err, ERR_LIMIT, "No more.");
        return json_none();
    }
    int64_t n = json_is_none(old) ? 0 : json_object_get_c(old, "n").i;
    return OBJECT(KEY("format", json_int(2)), KEY("n", json_int(n + by)));
}

static void a_change_begins_from_what_is_there(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    expect_gives(kept_read(&file, &err), "(none)");
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(kept_changed(&file), 0);
    assert_true(kept_change(&file, add, &(int){1}, &err));
    assert_true(kept_change(&file, add, &(int){2}, &err));
    expect_gives(kept_read(&file, &err), "{\"format\":2,\"n\":3}");
    assert_true(kept_change(&file, add, &(int){-1}, &err));
    assert_false(kept_change(&file, add, &(int){0}, &err));
    assert_string_equal(err.msg, "No more.");
    expect_gives(kept_read(&file, NULL), "{\"format\":2,\"n\":3}");
}

static void each_change_is_seen(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "%s/things", folder);
    struct timespec same[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
    int64_t seen = 0;
    for (int i = 0; i < 5; i++) { /* as in one tick of a clock that ticks slowly */
        assert_true(kept_change(&file, add, &(int){1}, NULL));
        assert_int_equal(utimensat(AT_FDCWD, path, same, 0), 0);
        int64_t now = kept_changed(&file);
        assert_true(now && now != seen);
        seen = now;
    }
}

static void what_is_not_such_a_file_is_refused(void **state) {
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "is damaged"},
        {"{", "is damaged"},
        {"[]", "is damaged"},
        {"{\"format\": 2}", "is damaged"},
        {"{\"format\": 2, \"n\": \"1\"}", "is damaged"},
        {"{\"format\": 2, \"n\": 1, \"m\": 1}", "is damaged"},
        {"{\"format\": 3, \"m\": 1}", "newer version"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Error err = ERROR_INIT;
        write_text(rows[i].text, 0600);
        expect_gives(kept_read(&file, &err), "(none)");
        expect_contains(err.msg, rows[i].says);
        expect_contains(err.msg, "The file with things");
        error_clear(&err);
        assert_false(kept_change(&file, add, &(int){1}, &err));
        expect_contains(err.msg, rows[i].says);
    }
}

static void what_leads_elsewhere_is_refused(void **state) {
    Error err = ERROR_INIT;
    char path[64];
    (void)state;
    snprintf(path, sizeof path, "%s/things", folder);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    expect_gives(kept_read(&file, &err), "(none)");
    assert_true(err.code != ERR_NONE);
    error_clear(&err);
    assert_false(kept_change(&file, add, &(int){1}, &err));
}

static void it_has_an_end(void **state) {
    Error err = ERROR_INIT;
    (void)state;
    assert_true(kept_change(&file, add, &(int){1}, &err));
    file.max = 10;
    assert_false(kept_change(&file, add, &(int){1}, &err));
    file.max = 200;
    expect_gives(kept_read(&file, NULL), "{\"format\":2,\"n\":1}");
    file.max = 35;
    assert_true(kept_change(&file, add, &(int){1}, NULL));
    file.max = 20;
    assert_false(kept_change(&file, add, &(int){1}, NULL));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_change_begins_from_what_is_there, set_up, tear_down),
        cmocka_unit_test_setup_teardown(each_change_is_seen, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_such_a_file_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_leads_elsewhere_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(it_has_an_end, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
