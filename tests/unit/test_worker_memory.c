/* The memory of a session: all of its processes, and what they share once. */
#define _GNU_SOURCE
#include "json_test.h"
#include "worker_memory.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 32 << 20 };

#ifdef __SANITIZE_THREAD__ /* whose own memory, several times as much, would be counted with it */
enum { COUNTS_OTHERS = 1 };
#else
enum { COUNTS_OTHERS = 0 };
#endif

static void fill(int flags) {
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(1);
    memset(memory, 1, SIZE);
}

/* A leader of a session and its child: each does its part, and the child says when it has. */
typedef void Part(int fd, bool mapped);

static pid_t session_up(Part *of_leader, Part *of_child, int fd, bool mapped) {
    int pipes[2];
    char ready;
    assert_int_equal(pipe(pipes), 0);
    pid_t leader = fork();
    if (leader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        of_leader(fd, mapped);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            of_child(fd, mapped);
            if (write(pipes[1], "r", 1) != 1) _exit(1);
        }
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], &ready, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return leader;
}

static void fill_shared(int fd, bool mapped) {
    (void)fd, (void)mapped;
    fill(MAP_SHARED);
}

static void fill_own(int fd, bool mapped) {
    (void)fd, (void)mapped;
    fill(MAP_PRIVATE);
}

static void shared_memory_and_children_count(void **state) {
    (void)state;
    if (COUNTS_OTHERS) skip();
    pid_t leader = session_up(fill_shared, fill_own, -1, false);
    WorkerMemory item = {.leader = leader, .enough = 1};
    worker_memory_look(&item, 1, true);
    assert_true(item.bytes >= 2 * (uint64_t)SIZE);
    assert_true(item.bytes < 3 * (uint64_t)SIZE); /* what both map counts once */
    assert_true(item.others >= SIZE && item.others <= item.bytes);
    kill(leader, SIGKILL);
    waitpid(leader, NULL, 0);
}

/* 32 MB in a file without a name: the leader maps it and never touches it, the child looks at the first half. */
static void map_whole(int fd, bool mapped) {
    (void)mapped;
    if (mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED) _exit(1);
}

static void look_at_half(int fd, bool mapped) {
    volatile char *half = mmap(NULL, SIZE / 2, PROT_READ, MAP_SHARED, fd, 0);
    for (size_t i = 0; mapped && i < SIZE / 2; i += 4096) (void)half[i];
}

static void files_without_a_name_count_once(void **state) {
    (void)state;
    if (COUNTS_OTHERS) skip();
    static char page[1 << 16];
    const char *const folder = "/dev/shm";
    for (int i = 0; i < 4; i++) {
        int fd = i & 1 ? open(folder, O_TMPFILE | O_RDWR, 0600) : memfd_create("x", 0);
        if (fd < 0) continue; /* there is no such folder here */
        for (size_t done = 0; done < SIZE; done += sizeof page) {
            assert_int_equal(write(fd, page, sizeof page), sizeof page);
        }
        pid_t leader = session_up(map_whole, look_at_half, fd, i & 2);
        WorkerMemory item = {.leader = leader, .enough = 1};
        for (int all = 1; all >= 0; all--) {
            worker_memory_look(&item, 1, all);
            if (item.bytes < SIZE || item.bytes > SIZE + SIZE / 3) {
                fail_msg("%d: %llu", i, (unsigned long long)item.bytes);
            }
            assert_int_equal(item.files, SIZE);
        }
        item = (WorkerMemory){.leader = leader, .enough = 1ull << 40};
        worker_memory_look(&item, 1, false);
        assert_true(item.bytes >= SIZE); /* cheaper, and never less */
        kill(leader, SIGKILL);
        waitpid(leader, NULL, 0);
        close(fd);
    }
}

static void who_is_gone_has_none(void **state) {
    (void)state;
    pid_t pid = fork();
    if (pid == 0) _exit(0);
    waitpid(pid, NULL, 0);
    WorkerMemory item = {.leader = pid, .enough = 1};
    worker_memory_look(&item, 1, true);
    assert_int_equal(item.bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_memory_and_children_count),
        cmocka_unit_test(files_without_a_name_count_once),
        cmocka_unit_test(who_is_gone_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
