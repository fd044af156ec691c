/* errand.h, and the removing of folders (folders.h) that is its usual work. */
#define _GNU_SOURCE
#include "errand.h"
#include "folders.h"
#include "json_test.h"
#include "mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static uv_loop_t loop;
static char root[64];

static int set_up(void **state) {
    (void)state;
    strcpy(root, "/tmp/pawl-errand-XXXXXX");
    return uv_loop_init(&loop) || !mkdtemp(root) || chdir(root);
}

static int tear_down(void **state) {
    (void)state;
    if (chdir("/") != 0) return -1;
    folder_remove(root);
    bool gone = access(root, F_OK) != 0;
    return uv_loop_close(&loop) || !gone;
}

static bool is_there(const char *path) {
    struct stat st;
    return lstat(path, &st) == 0;
}

static void make_file(const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

/* ---- errands ---- */

typedef struct Job {
    Errand errand;
    char name;
    bool adds; /* done() adds another one */
} Job;

static Buf order;
static atomic_int at_once, most;
static uv_sem_t hold;

static void work(Errand *errand) {
    int now = atomic_fetch_add(&at_once, 1) + 1;
    if (now > atomic_load(&most)) atomic_store(&most, now);
    if (((Job *)errand)->name == 'h') uv_sem_wait(&hold);
    atomic_fetch_sub(&at_once, 1);
}

static void add(Errands *errands, char name, bool adds);

static void done(Errand *errand) {
    Job *job = (Job *)errand;
    buf_addc(&order, job->name);
    if (job->adds) add(errand->errands, 'z', false);
    mem_free(job);
}

static void add(Errands *errands, char name, bool adds) {
    Job *job = mem_zalloc(sizeof *job);
    job->errand = (Errand){.work = work, .done = done};
    job->name = name;
    job->adds = adds;
    errands_add(errands, &job->errand);
}

static void they_are_done_one_after_the_other(void **state) {
    (void)state;
    Errands *errands = errands_new(&loop);
    atomic_store(&most, 0);
    for (char c = 'a'; c < 'h'; c++) add(errands, c, c == 'c');
    assert_null(order.data); /* never from inside */
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(order.data, "abcdefgz");
    assert_int_equal(atomic_load(&most), 1);
    errands_leave(errands, false);
    buf_clear(&order);
}

/* The loop turns meanwhile. */
static void what_waits_holds_nobody_else(void **state) {
    (void)state;
    Errands *errands = errands_new(&loop), *others = errands_new(&loop);
    uv_sem_init(&hold, 0);
    add(errands, 'h', false);
    add(errands, 'b', false);
    add(others, 'o', false);
    while (!order.data) uv_run(&loop, UV_RUN_ONCE);
    assert_string_equal(order.data, "o");
    uv_sem_post(&hold);
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_string_equal(order.data, "ohb");
    errands_leave(errands, false);
    errands_leave(others, false);
    uv_sem_destroy(&hold);
    buf_clear(&order);
}

static void a_list_that_was_left_ends_with_its_last(void **state) {
    (void)state;
    for (int abandon = 0; abandon < 2; abandon++) {
        Errands *errands = errands_new(&loop);
        uv_sem_init(&hold, 0);
        atomic_store(&most, 0);
        add(errands, 'h', false);
        add(errands, 'h',
            false); /* would wait for ever if its work was done, and nobody posts twice */
        add(errands, 'c', abandon);
        errands_leave(errands, abandon);
        uv_sem_post(&hold);
        if (!abandon) uv_sem_post(&hold);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_string_equal(order.data, abandon ? "hhcz" : "hhc");
        uv_sem_destroy(&hold);
        buf_clear(&order);
    }
    errands_leave(NULL, true);
}

static void a_folder_that_is_discarded_is_gone_at_once(void **state) {
    (void)state;
    Errands *errands = errands_new(&loop);
    assert_false(errands_discard(errands, "none", "away"));
    assert_int_equal(errno, ENOENT);
    uv_sem_init(&hold, 0);
    add(errands, 'h', false); /* so that the removing has not begun */
    for (int i = 0; i < 3; i++) {
        assert_int_equal(mkdir("full", 0700), 0);
        make_file("full/file");
        assert_true(errands_discard(errands, "full", "away"));
        assert_false(is_there("full"));
    }
    uv_sem_post(&hold);
    uv_run(&loop, UV_RUN_DEFAULT);
    errands_leave(errands, false);
    buf_clear(&order);
    uv_sem_destroy(&hold);
    assert_int_equal(rmdir(root), 0); /* nothing is left */
    assert_int_equal(mkdir(root, 0700), 0);
    assert_int_equal(chdir(root), 0);
}

/* ---- removing ---- */

static void folders_go_with_all_that_is_in_them(void **state) {
    (void)state;
    mkdir("outside", 0700);
    make_file("outside/kept");
    mkdir("f", 0700);
    mkdir("f/a", 0700);
    mkdir("f/a/b", 0700);
    make_file("f/a/b/file");
    assert_int_equal(symlink("../outside", "f/link"), 0);
    assert_int_equal(symlink("../../outside/kept", "f/a/link"), 0);
    assert_int_equal(mkfifo("f/fifo", 0600), 0);
    chmod("f/a/b", 0);
    chmod("f/a", 0500);
    folder_remove("f");
    assert_false(is_there("f"));
    assert_true(is_there("outside/kept"));
    make_file("file");
    folder_remove("file");
    assert_false(is_there("file"));
    assert_int_equal(symlink("outside", "link"), 0);
    folder_remove("link");
    assert_false(is_there("link"));
    assert_true(is_there("outside/kept"));
    folder_remove("none");
}

/* Names of such a length that no path leads there, and more levels than a process may open. */
static void folders_of_any_depth_go(void **state) {
    (void)state;
    enum { DEPTH = 5000 };
    int at = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    for (int i = 0; i < DEPTH; i++) {
        const char *name = i ? "a-name-of-some-length" : "deep";
        assert_int_equal(mkdirat(at, name, 0700), 0);
        int inner = openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        assert_true(inner >= 0);
        close(at);
        at = inner;
        if (i % 1000 == 0) {
            int fd = openat(at, "file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
            assert_true(fd >= 0);
            close(fd);
        }
    }
    close(at);
    folder_remove("deep");
    assert_false(is_there("deep"));
}

#define RUN(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN(they_are_done_one_after_the_other),
        RUN(what_waits_holds_nobody_else),
        RUN(a_list_that_was_left_ends_with_its_last),
        RUN(a_folder_that_is_discarded_is_gone_at_once),
        RUN(folders_go_with_all_that_is_in_them),
        RUN(folders_of_any_depth_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
