/* Files without a name that a process holds: counted once, less what is mapped of them. */
#define _GNU_SOURCE
#include "json_test.h"
#include "memory_files.h"

#include <sys/mman.h>
#include <unistd.h>

enum { SIZE = 4 << 20 };

/* Our own, of which there are none else. */
static uint64_t held(bool unmapped) {
    MemoryFiles files = {0};
    pid_t self = getpid();
    memory_files_add(&files, self);
    memory_files_add(&files, self);
    uint64_t bytes = unmapped ? memory_files_unmapped(&files, &self, 1) : files.bytes;
    memory_files_clear(&files);
    return bytes;
}

static int filled(void) {
    static char page[1 << 16];
    int fd = memfd_create("x", MFD_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t done = 0; done < SIZE; done += sizeof page) {
        assert_int_equal(write(fd, page, sizeof page), sizeof page);
    }
    return fd;
}

static void a_file_without_a_name_counts_once_until_it_is_closed(void **state) {
    (void)state;
    uint64_t before = held(false);
    int fd = filled(), again = dup(fd);
    assert_int_equal(held(false) - before, SIZE);
    close(fd);
    assert_int_equal(held(false) - before, SIZE);
    close(again);
    assert_int_equal(held(false), before);
}

static void what_is_mapped_and_was_touched_counts_with_the_process(void **state) {
    (void)state;
    uint64_t before = held(true);
    int fd = filled();
    assert_int_equal(held(true) - before, SIZE);
    volatile char *half = mmap(NULL, SIZE / 2, PROT_READ, MAP_SHARED, fd, 0);
    assert_ptr_not_equal(half, MAP_FAILED);
    for (size_t i = 0; i < SIZE / 2; i += 4096) (void)half[i];
    assert_int_equal(held(true) - before, SIZE / 2);
    munmap((void *)half, SIZE / 2);
    close(fd);
}

static void a_file_that_has_a_name_does_not_count(void **state) {
    (void)state;
    uint64_t before = held(false);
    char path[] = "/dev/shm/pawl-XXXXXX";
    int fd = mkstemp(path);
    if (fd < 0) skip(); /* there is no such folder here */
    assert_int_equal(write(fd, path, sizeof path), sizeof path);
    assert_int_equal(held(false), before);
    unlink(path);
    assert_true(held(false) > before);
    close(fd);
}

static void a_process_that_is_gone_holds_none(void **state) {
    (void)state;
    MemoryFiles files = {0};
    memory_files_add(&files, 0x7fffffff);
    assert_int_equal(files.bytes, 0);
    assert_int_equal(memory_files_unmapped(&files, NULL, 0), 0);
    memory_files_clear(&files);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_without_a_name_counts_once_until_it_is_closed),
        cmocka_unit_test(what_is_mapped_and_was_touched_counts_with_the_process),
        cmocka_unit_test(a_file_that_has_a_name_does_not_count),
        cmocka_unit_test(a_process_that_is_gone_holds_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
