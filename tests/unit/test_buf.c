/* buf.h, and arena.h and mem.h beside it. */
#include "arena.h"
#include "buf.h"
#include "mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void a_buffer_grows_and_stays_a_c_string(void **state) {
    (void)state;
    Buf b = BUF_INIT;
    buf_add(&b, "", 0);
    assert_null(b.data);
    for (int i = 0; i < 1000; i++) {
        buf_addc(&b, (char)('a' + i % 26));
        assert_int_equal(strlen(b.data), i + 1);
    }
    buf_reset(&b);
    buf_adds(&b, "x");
    buf_printf(&b, "=%d", 7);
    assert_string_equal(b.data, "x=7");
    buf_clear(&b);
    assert_null(b.data);
}

static void detaching_gives_the_memory_away(void **state) {
    (void)state;
    Buf b = BUF_INIT;
    char *empty = buf_detach(&b);
    assert_string_equal(empty, "");
    buf_adds(&b, "mine");
    char *text = buf_detach(&b);
    assert_string_equal(text, "mine");
    assert_null(b.data);
    mem_free(text);
    mem_free(empty);
}

static void what_an_arena_gives_is_zeroed_aligned_and_apart(void **state) {
    (void)state;
    Arena *a = arena_new();
    char *before = NULL;
    for (size_t size = 1; size < 5000; size = size * 2 + 1) {
        char *p = arena_alloc(a, size);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(p[i], 0);
        }
        memset(p, 0x5A, size);
        assert_true(p != before);
        before = p;
    }
    assert_string_equal(arena_strndup(a, "abcdef", 3), "abc");
    arena_free(a);
    arena_free(NULL);
}

static void a_growing_array_doubles(void **state) {
    (void)state;
    size_t cap = 0;
    int *items = NULL;
    for (size_t n = 0; n < 100; n++) {
        items = mem_grow(items, n, &cap, sizeof *items);
        items[n] = (int)n;
        assert_true(cap > n);
    }
    assert_int_equal(cap, 128);
    assert_int_equal(items[99], 99);
    mem_free(items);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_buffer_grows_and_stays_a_c_string),
        cmocka_unit_test(detaching_gives_the_memory_away),
        cmocka_unit_test(what_an_arena_gives_is_zeroed_aligned_and_apart),
        cmocka_unit_test(a_growing_array_doubles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
