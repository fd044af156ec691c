/* The memory of a session: all of its processes, and what they share once. */
#include "json_test.h"
#include "worker_memory.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZE = 32 << 20 };

static void fill(int flags) {
    char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) _exit(1);
    memset(memory, 1, SIZE);
}

/* A leader of a session that has shared memory, with a child that has some of its own. */
static pid_t session_up(void) {
    int pipes[2];
    char ready;
    assert_int_equal(pipe(pipes), 0);
    pid_t leader = fork();
    if (leader == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setsid();
        fill(MAP_SHARED);
        if (fork() == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            fill(MAP_PRIVATE);
            if (write(pipes[1], "r", 1) != 1) _exit(1);
        }
        for (;;) pause();
    }
    assert_int_equal(read(pipes[0], &ready, 1), 1);
    close(pipes[0]);
    close(pipes[1]);
    return leader;
}

static void shared_memory_and_children_count(void **state) {
    (void)state;
    pid_t leader = session_up();
    WorkerMemory item = {.leader = leader, .enough = 1};
    worker_memory_look(&item, 1, true);
    assert_true(item.bytes >= 2 * (uint64_t)SIZE);
    assert_true(item.bytes < 3 * (uint64_t)SIZE); /* what both map counts once */
    assert_true(item.others >= SIZE && item.others <= item.bytes);
    kill(leader, SIGKILL);
    waitpid(leader, NULL, 0);
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
        cmocka_unit_test(who_is_gone_has_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
