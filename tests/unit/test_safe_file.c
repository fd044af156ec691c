/* Files and folders that others have prepared. Those of another user can be made by root only. */
#define _GNU_SOURCE
#include "safe_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

enum { ANOTHER = 54321 }; /* a user, and a group */

static char root[64];
static int folder;

static int up(void **state) {
    (void)state;
    snprintf(root, sizeof root, "/tmp/test_safe_file.XXXXXX");
    if (!mkdtemp(root)) return 1;
    folder = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0;
}

static int down(void **state) {
    (void)state;
    char command[100];
    close(folder);
    snprintf(command, sizeof command, "rm -rf %s", root);
    return system(command);
}

static void write_file(const char *name, const char *text) {
    int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void expect_refused(const char *name, int rules, int error, const char *says) {
    const int flags[] = {O_RDONLY, O_RDWR};
    for (int i = 0; i < 2; i++) {
        Error err = ERROR_INIT;
        int fd = safe_open(folder, name, flags[i], rules, &err);
        int why = errno;
        assert_int_equal(fd, -1);
        if (flags[i] == O_RDONLY) {
            assert_int_equal(why, error);
            if (!strstr(err.msg, says)) fail_msg("%s", err.msg);
        }
        assert_int_equal(err.code, ERR_IO);
        assert_int_equal(safe_open(folder, name, flags[i], rules, NULL), -1);
    }
}

static void only_a_regular_file_is_opened(void **state) {
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    write_file("file", "text");
    assert_int_equal(symlinkat("file", folder, "link"), 0);
    assert_int_equal(symlinkat("/etc/passwd", folder, "away"), 0);
    assert_int_equal(mkfifoat(folder, "fifo", 0600), 0);
    assert_int_equal(mkdirat(folder, "sub", 0700), 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", root);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    expect_refused("link", 0, ELOOP, "is a link");
    expect_refused("away", SAFE_OURS, ELOOP, "is a link");
    expect_refused("fifo", 0, ENXIO, "is a FIFO");
    expect_refused("sub", 0, ENXIO, "is a folder");
    expect_refused("socket", 0, ENXIO, "");
    expect_refused("missing", 0, ENOENT, "No such file");
    expect_refused("/dev/null", 0, ENXIO, "is a device");
    int fd = safe_open(folder, "link", O_RDONLY, SAFE_FOLLOW | SAFE_OURS, NULL);
    assert_true(fd >= 0);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    close(fd);
    close(listener);
}

static void a_file_is_read_up_to_its_limit(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    Error err = ERROR_INIT;
    write_file("file", "0123456789");
    buf_adds(&text, "before ");
    assert_true(safe_read(folder, "file", SAFE_OURS, 10, &text, &err));
    assert_string_equal(text.data, "before 0123456789");
    assert_false(safe_read(folder, "file", 0, 9, &text, &err));
    assert_int_equal(errno, EFBIG);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_int_equal(text.len, 17); /* nothing of it was added */
    write_file("file", "");
    assert_true(safe_read(folder, "file", 0, 0, &text, &err));
    int fd = openat(folder, "sparse", O_WRONLY | O_CREAT, 0600);
    assert_int_equal(ftruncate(fd, (off_t)1 << 42), 0);
    close(fd);
    assert_false(safe_read(folder, "sparse", 0, 1 << 20, &text, &err));
    assert_true(text.cap < 1 << 20); /* and cost no memory */
    /* A file that says that it is empty, and is not. */
    assert_true(safe_read(AT_FDCWD, "/proc/self/stat", 0, 1 << 16, &text, &err));
    assert_false(safe_read(AT_FDCWD, "/proc/self/stat", 0, 4, &text, &err));
    buf_clear(&text);
}

static void a_new_file_is_new_and_for_us_alone(void **state) {
    (void)state;
    struct stat st;
    Error err = ERROR_INIT;
    int fd = safe_create(folder, "new", &err);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    close(fd);
    assert_int_equal(safe_create(folder, "new", &err), -1);
    assert_int_equal(errno, EEXIST);
    assert_int_equal(symlinkat("victim", folder, "planted"), 0);
    assert_int_equal(safe_create(folder, "planted", &err), -1);
    assert_int_equal(faccessat(folder, "victim", F_OK, 0), -1);
}

static void a_folder_is_ours_alone(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    struct stat st;
    bool made = false;
    int fd = safe_folder_make(folder, "mine", &made, &err);
    assert_true(fd >= 0 && made);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    close(fd);
    fd = safe_folder_make(folder, "mine", &made, &err);
    assert_true(fd >= 0 && !made);
    close(fd);
    assert_int_equal(fchmodat(folder, "mine", 0777, 0), 0);
    assert_int_equal(safe_folder(folder, "mine", &err), -1);
    assert_int_equal(errno, EPERM);
    assert_non_null(strstr(err.msg, "Others can write to mine"));
    assert_non_null(strstr(err.facts, "\"foreign\":\"mine\""));
    assert_int_equal(safe_parent(folder, "mine", &err), -1);
    assert_int_equal(fchmodat(folder, "mine", 01777, 0), 0); /* as /tmp is */
    assert_int_equal(safe_folder(folder, "mine", &err), -1);
    fd = safe_parent(folder, "mine", &err);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(fchmodat(folder, "mine", 0755, 0), 0);
    assert_int_equal(symlinkat("mine", folder, "way"), 0);
    assert_int_equal(safe_folder(folder, "way", &err), -1);
    assert_int_equal(errno, ELOOP);
    assert_int_equal(safe_folder_make(folder, "way", NULL, &err), -1);
    write_file("file", "");
    assert_int_equal(safe_folder(folder, "file", &err), -1);
    assert_int_equal(errno, ENOTDIR);
    assert_int_equal(safe_folder(folder, "missing", &err), -1);
    assert_int_equal(errno, ENOENT);
}

static void the_group_of_one_user_may_write(void **state) {
    (void)state;
    unsigned long us = geteuid();
    assert_int_equal(mkdirat(folder, "group", 0700), 0);
    if (fchownat(folder, "group", (uid_t)-1, (gid_t)us, 0) != 0) {
        print_message("the group of this user cannot be given: skipped\n");
        skip();
    }
    assert_int_equal(fchmodat(folder, "group", 0770, 0), 0);
    int fd = safe_folder(folder, "group", NULL);
    assert_true(fd >= 0);
    close(fd);
    if (fchownat(folder, "group", (uid_t)-1, ANOTHER, 0) != 0) {
        print_message("another group cannot be given: skipped\n");
        skip();
    }
    assert_int_equal(fchmodat(folder, "group", 0770, 0), 0);
    assert_int_equal(safe_folder(folder, "group", NULL), -1);
}

static void what_belongs_to_another_user_is_refused(void **state) {
    (void)state;
    Error err = ERROR_INIT;
    write_file("theirs", "planted");
    assert_int_equal(mkdirat(folder, "folder", 0755), 0);
    if (fchownat(folder, "theirs", ANOTHER, ANOTHER, 0) != 0) {
        print_message("only root can make files of others: skipped\n");
        skip();
    }
    assert_int_equal(fchownat(folder, "folder", ANOTHER, ANOTHER, 0), 0);
    assert_int_equal(safe_open(folder, "theirs", O_RDONLY, SAFE_OURS, &err), -1);
    assert_int_equal(errno, EPERM);
    assert_non_null(strstr(err.msg, "belongs to another user (number 54321)"));
    assert_non_null(strstr(err.facts, "\"foreign\":\"theirs\""));
    int fd = safe_open(folder, "theirs", O_RDONLY, 0, &err);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(safe_folder(folder, "folder", &err), -1);
    assert_int_equal(safe_folder_make(folder, "folder", NULL, &err), -1);
}

int main(void) {
    alarm(60); /* whatever waits is a failure */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(only_a_regular_file_is_opened, up, down),
        cmocka_unit_test_setup_teardown(a_file_is_read_up_to_its_limit, up, down),
        cmocka_unit_test_setup_teardown(a_new_file_is_new_and_for_us_alone, up, down),
        cmocka_unit_test_setup_teardown(a_folder_is_ours_alone, up, down),
        cmocka_unit_test_setup_teardown(the_group_of_one_user_may_write, up, down),
        cmocka_unit_test_setup_teardown(what_belongs_to_another_user_is_refused, up, down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
