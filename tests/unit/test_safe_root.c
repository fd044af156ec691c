/* A folder with parts, links that stay in it and links that lead out, by the kernel's word and without. */
#define _GNU_SOURCE
#include "safe_root.h"

#include "forbid.h"
#include "mem.h"
#include "path.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_openat2
#define SYS_openat2 437
#endif

static char top[64]; /* has in/ and out/ */

static void put(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", top, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
}

static void make(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void lead(const char *name, const char *to) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(symlink(to, path), 0);
}

static int setup(void **state) {
    (void)state;
    char whole[200];
    snprintf(top, sizeof top, "/tmp/test_safe_root.XXXXXX");
    assert_non_null(mkdtemp(top));
    make("in");
    make("in/deep");
    make("out");
    put("in/a");
    put("in/deep/b");
    put("out/secret");
    snprintf(whole, sizeof whole, "%s/out/secret", top);
    lead("in/away", "../out/secret");
    lead("in/whole", whole);
    lead("in/folder", "../out");
    lead("in/near", "deep/b");
    lead("in/deep/up", "../a");
    lead("link", "in");
    lead("in/self", "/proc/self");
    snprintf(whole, sizeof whole, "%s/in/pipe", top);
    return mkfifo(whole, 0600);
}

static int teardown(void **state) {
    (void)state;
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", top);
    return system(command);
}

/* 0, or the errno. */
static int try(const SafeRoot *root, const char *name) {
    char path[300];
    Error err = ERROR_INIT;
    snprintf(path, sizeof path, "%s/%s", top, name);
    int fd = safe_root_open(root, path, O_RDONLY, &err), error = errno;
    if (fd >= 0) return close(fd);
    if (!err.msg[0]) abort();
    return error;
}

static SafeRoot *open_root(const char *name) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return safe_root_new(path, "/", NULL);
}

/* links: whether those that stay inside are followed. A number, for what did not hold. */
static int check(bool links) {
    static const char *const inside[] = {"in/a", "in/deep/b", "in/./deep/../a", "in/deep//b",
                                         "in",   "in/deep/",  "in/pipe"};
    static const char *const near[] = {"in/near", "in/deep/up"};
    static const char *const outside[] = {
        "out/secret", "in/../out/secret",         "in/deep/../../out/secret", "in/../in2", "inside",
        ".",          "in/../../../../etc/passwd"};
    static const char *const away[] = {"in/away", "in/whole", "in/folder/secret", "in/self/status"};
    SafeRoot *root = open_root("in");
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++) {
        if (try(root, inside[i]) != 0) return 10 + (int)i;
    }
    for (size_t i = 0; i < sizeof near / sizeof *near; i++) {
        if ((try(root, near[i]) == 0) != links) return 20 + (int)i;
    }
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++) {
        if (try(root, outside[i]) != EXDEV) return 30 + (int)i;
    }
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        int error = try(root, away[i]);
        if (error != EXDEV && error != ELOOP && error != ENOTDIR) return 40 + (int)i;
    }
    if (try(root, "in/none") != ENOENT) return 50;
    safe_root_free(root);
    return 0;
}

static void nothing_leads_out_of_it(void **state) {
    (void)state;
    assert_int_equal(check(true), 0);
}

/* As if the kernel did not have openat2. */
static int without_openat2(void) {
    if (!forbid_call(SYS_openat2, ENOSYS)) return 77;
    return syscall(SYS_openat2, -1, "", NULL, 0) == -1 && errno == ENOSYS ? check(false) : 78;
}

static void nor_where_the_kernel_does_not_help(void **state) {
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) _exit(without_openat2());
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    assert_int_equal(status, 0);
}

static void it_may_be_a_link_or_relative_itself(void **state) {
    (void)state;
    char path[300];
    SafeRoot *root = open_root("link");
    assert_int_equal(try(root, "link/a"), 0);
    assert_int_equal(try(root, "in/a"), 0);
    assert_int_equal(try(root, "link/../out/secret"), EXDEV);
    safe_root_free(root);
    root = safe_root_new("in/", top, NULL);
    assert_string_equal(safe_root_name(root), "in/");
    int fd = safe_root_open(root, "in/a", O_RDONLY, NULL);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(safe_root_open(root, "a", O_RDONLY, NULL), -1);
    char *whole = safe_root_path(root, "in/deep/../near", NULL);
    snprintf(path, sizeof path, "%s/in/near", top);
    assert_string_equal(whole, path);
    mem_free(whole);
    assert_null(safe_root_path(root, "in/away", NULL));
    safe_root_free(root);
    root = safe_root_new("/", top, NULL);
    assert_int_equal(try(root, "out/secret"), 0);
    safe_root_free(root);
    Error err = ERROR_INIT;
    assert_null(safe_root_new("/nowhere/at/all", top, &err));
    assert_string_equal(err.msg,
                        "Cannot open the folder /nowhere/at/all: No such file or directory.");
    assert_null(safe_root_new("/etc/passwd", top, &err));
}

static void paths_are_tidied(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"", ""},
        {".", "."},
        {"./", "."},
        {"a/..", "."},
        {"a/./b", "a/b"},
        {"../a", "../a"},
        {"a/../../b", "../b"},
        {"/", "/"},
        {"/..", "/"},
        {"/../a", "/a"},
        {"//a//b", "/a/b"},
        {"/a/../..", "/"},
        {"../../a", "../../a"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[50];
        snprintf(path, sizeof path, "%s", cases[i][0]);
        path_tidy(path);
        assert_string_equal(path, cases[i][1]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_leads_out_of_it),
        cmocka_unit_test(nor_where_the_kernel_does_not_help),
        cmocka_unit_test(it_may_be_a_link_or_relative_itself),
        cmocka_unit_test(paths_are_tidied),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
