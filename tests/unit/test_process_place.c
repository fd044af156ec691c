/* The files of a command's place, as anybody may have written them. */
#include "json_test.h"
#include "process_place.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static void only_what_a_supervisor_writes_is_a_status(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool valid;
    } rows[] = {
        {"0 0 5 5 0 0 1 1\n", true},
        {"0 4095 5 3 7 0 1 253402300799999\n", true},
        {"", false},
        {"0 0 5 5 0 0 1\n", false},
        {"0 0 5 5 0 0 1 1 1\n", false},
        {"0 0 5 5 0 0 1 1", false},
        {"99 0 5 5 0 0 1 1\n", false},
        {"0 4096 5 5 0 0 1 1\n", false},
        {"-1 0 5 5 0 0 1 1\n", false},
        {"0 0 5 6 0 0 1 1\n", false},
        {"0 0 9223372036854775808 5 0 0 1 1\n", false},
        {"0 0 99999999999999999999 5 0 0 1 1\n", false},
        {"0 0 5 5 0 0 1 253402300800000\n", false},
        {"0x0 0 5 5 0 0 1 1\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PlaceStatus status;
        bool valid = process_place_parse_status(rows[i].text, strlen(rows[i].text), &status);
        if (valid != rows[i].valid) fail_msg("%s", rows[i].text);
    }
}

static void numbers_of_processes_are_above_one(void **state) {
    (void)state;
    static const char *const bad[] = {"1 1\n", "0 5\n",   "5 1\n",         "-1 -1\n",
                                      "5\n",   "5 6 7\n", "5 2147483648\n"};
    pid_t supervisor, child;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (process_place_parse_lock(bad[i], strlen(bad[i]), &supervisor, &child))
            fail_msg("%s", bad[i]);
    }
    assert_true(process_place_parse_lock("5 6\n", 4, &supervisor, &child));
    assert_int_equal(supervisor, 5);
    assert_int_equal(child, 6);
}

static void a_stream_that_is_shorter_than_its_status_is_not_whole(void **state) {
    (void)state;
    char folder[] = "/tmp/pawl-place-XXXXXX";
    Buf out = BUF_INIT, tail = BUF_INIT;
    assert_non_null(mkdtemp(folder));
    int place = open(folder, O_RDONLY | O_DIRECTORY);
    int fd = openat(place, "out", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, "abc", 3), 3);
    close(fd);
    PlaceStatus status = {.len = {3}, .kept = {3}};
    assert_true(process_place_read_stream(place, 0, &status, 2, &out, &tail));
    assert_int_equal(out.len, 2); /* no more than is asked for */
    status = (PlaceStatus){.len = {INT64_MAX}, .kept = {INT64_MAX}};
    assert_false(process_place_read_stream(place, 0, &status, 1000, &out, &tail));
    unlinkat(place, "out", 0);
    assert_int_equal(mkfifoat(place, "out", 0600), 0);
    assert_false(process_place_read_stream(place, 0, &status, 1000, &out, &tail));
    close(place);
    process_place_remove(folder);
    assert_int_not_equal(access(folder, F_OK), 0);
    buf_clear(&out);
    buf_clear(&tail);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_a_supervisor_writes_is_a_status),
        cmocka_unit_test(numbers_of_processes_are_above_one),
        cmocka_unit_test(a_stream_that_is_shorter_than_its_status_is_not_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
