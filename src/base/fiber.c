/* fiber.c - stacks that are switched between, and what sanitizers have to be told of them.
 *
 * A context of the C library begins a fiber. From then on a switch is a jump, since a context also sets the mask of
 * signals, which is a call of the kernel, and takes ten times as long. Where the machine keeps a second stack of return
 * addresses, and under a sanitizer, contexts are switched each time.
 *
 * A fiber that has ended waits for the next function: the last one of a thread is kept, with its stack. */
#define _GNU_SOURCE
#undef _FORTIFY_SOURCE /* its longjmp() refuses to jump to another stack */
#include "fiber.h"

#include "mem.h"

#include <assert.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#if __has_feature(thread_sanitizer)
#define __SANITIZE_THREAD__ 1
#endif
#endif

#ifdef __SANITIZE_ADDRESS__
#include <dlfcn.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/* One side of a switch: where it is, and its stack as the sanitizers know it. */
typedef struct Side {
    ucontext_t context;
    jmp_buf jump;
    bool begun; /* jump is set */
    const void *bottom;
    size_t size;
    void *fake;  /* of AddressSanitizer */
    void *fiber; /* of ThreadSanitizer */
} Side;

struct Fiber {
    void (*fn)(void *ctx);
    void *ctx;
    char *stack; /* NULL: it has none yet */
    Side own, caller;
    bool begun, ended; /* with its function */
};

/* ---- switching ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)

static const bool waits_for_more = false; /* a stack is made and forgotten with its fiber */

#ifdef __SANITIZE_ADDRESS__
/* The sanitizer's own swapcontext() warns that it does not know of fibers; it is told of them here. */
static int swap(ucontext_t *from, const ucontext_t *to) {
    static int (*real)(ucontext_t *, const ucontext_t *);
    if (!real) {
        void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
        *(void **)&real = libc ? dlsym(libc, "swapcontext") : NULL;
        if (!real) real = swapcontext;
    }
    return real(from, to);
}
#else
#define swap swapcontext
#endif

/* last: the side that is left does not come back. */
static void switch_to(Side *from, Side *to, bool last) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(last ? NULL : &from->fake, to->bottom, to->size);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(to->fiber, 0);
#endif
    (void)last;
    swap(&from->context, &to->context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(from->fake, NULL, NULL);
#endif
}

#else

static const bool waits_for_more = true;

static bool has_shadow_stack(void) {
    uintptr_t top = 0;
#if defined(__x86_64__)
    __asm__ volatile("rdsspq %0" : "+r"(top)); /* nothing where there is none */
#endif
    return top != 0;
}

static void switch_to(Side *from, Side *to, bool last) {
    (void)last;
    from->begun = !has_shadow_stack();
    if (from->begun && _setjmp(from->jump)) return;
    if (to->begun) _longjmp(to->jump, 1);
    swapcontext(&from->context, &to->context);
}

#endif

/* A context takes ints alone: the pointer comes as two halves. */
static void begin(unsigned high, unsigned low) {
    Fiber *f = (Fiber *)((uintptr_t)high << 32 | low);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, &f->caller.bottom, &f->caller.size);
#endif
    for (;;) {
        f->fn(f->ctx);
        f->ended = true;
        switch_to(&f->own, &f->caller, !waits_for_more);
    }
}

/* ---- stacks ---- */

/* The fiber that ended last, for its stack: mapping one costs more than most work on it. */
static _Thread_local Fiber *spare;

static size_t guard(void) {
    return (size_t)sysconf(_SC_PAGESIZE);
}

static char *stack_new(void) {
    char *stack = mmap(NULL, FIBER_STACK + guard(), PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, guard(), PROT_NONE) != 0) {
        fputs("pawl: there is no memory for a stack\n", stderr);
        abort();
    }
    return stack;
}

/* ---- fibers ---- */

Fiber *fiber_new(void (*fn)(void *ctx), void *ctx) {
    Fiber *f = spare ? spare : mem_zalloc(sizeof *f);
    spare = NULL;
    f->fn = fn;
    f->ctx = ctx;
    f->begun = f->ended = false;
    return f;
}

void fiber_free(Fiber *f) {
    if (!f) return;
    assert(!f->begun || f->ended);
    if (waits_for_more && !spare && f->stack) {
        spare = f;
        return;
    }
#ifdef __SANITIZE_THREAD__
    if (f->own.fiber) __tsan_destroy_fiber(f->own.fiber);
#endif
    if (f->stack) munmap(f->stack, FIBER_STACK + guard());
    mem_free(f);
}

bool fiber_resume(Fiber *f) {
    assert(!f->ended);
    f->begun = true;
    if (!f->stack) {
        f->stack = stack_new();
        getcontext(&f->own.context);
        f->own.bottom = f->stack + guard();
        f->own.size = FIBER_STACK;
        f->own.context.uc_stack.ss_sp = f->stack + guard();
        f->own.context.uc_stack.ss_size = FIBER_STACK;
        f->own.context.uc_link = NULL;
        makecontext(&f->own.context, (void (*)(void))begin, 2, (unsigned)((uintptr_t)f >> 32),
                    (unsigned)(uintptr_t)f);
#ifdef __SANITIZE_THREAD__
        f->own.fiber = __tsan_create_fiber(0);
#endif
    }
#ifdef __SANITIZE_THREAD__
    f->caller.fiber = __tsan_get_current_fiber();
#endif
    switch_to(&f->caller, &f->own, false);
    return f->ended;
}

void fiber_give_way(Fiber *f) {
    switch_to(&f->own, &f->caller, false);
}
