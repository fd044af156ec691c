/* kernel.h - system calls without a C library, for the supervisor.
 *
 *     long n = kernel(SYS_read, fd, bytes, len);      what the kernel gives: a result, or minus an errno
 *     void program(char **argv, char **env)           what the includer defines: never returns
 *
 * A program without a C library is a few pages: it starts several times faster than one with, and
 * neither the environment nor what is installed has a say in how. On machines whose calls are not
 * written down here the same source is linked to the C library.
 */
#ifndef PAWL_KERNEL_H
#define PAWL_KERNEL_H

#include <stddef.h>
#include <sys/syscall.h>

_Noreturn static void program(char **argv, char **env);

#define kernel(...) kernel_filled(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0)
#define kernel_filled(number, a, b, c, d, e, f, ...) \
    kernel_call(number, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

#if defined(__x86_64__) && defined(__LP64__)

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return result;
}

__asm__(".globl _start\n"
        "_start:\n"
        "    xor %ebp, %ebp\n"
        "    mov %rsp, %rdi\n"
        "    and $-16, %rsp\n"
        "    call kernel_start\n");

#elif defined(__aarch64__)

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
    register long x8 __asm__("x8") = number;
    register long x0 __asm__("x0") = a;
    register long x1 __asm__("x1") = b;
    register long x2 __asm__("x2") = c;
    register long x3 __asm__("x3") = d;
    register long x4 __asm__("x4") = e;
    register long x5 __asm__("x5") = f;
    __asm__ volatile("svc #0"
                     : "+r"(x0)
                     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
                     : "memory");
    return x0;
}

__asm__(".globl _start\n"
        "_start:\n"
        "    mov x29, #0\n"
        "    mov x30, #0\n"
        "    mov x0, sp\n"
        "    b kernel_start\n");

#else

#include <errno.h>
#include <unistd.h>

static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f) {
    long result = syscall(number, a, b, c, d, e, f);
    return result < 0 ? -errno : result;
}

int main(int argc, char **argv, char **env) {
    (void)argc;
    program(argv, env);
}

#define KERNEL_HAS_LIBRARY

#endif

#ifndef KERNEL_HAS_LIBRARY

/* At the bottom of the stack the kernel leaves the number of arguments, those, and the environment,
 * the last two each with a NULL behind. */
_Noreturn void kernel_start(long *stack);
_Noreturn __attribute__((used)) void kernel_start(long *stack) {
    char **argv = (char **)(stack + 1);
    program(argv, argv + stack[0] + 1);
}

/* The compiler may call these for what looks like them. */
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int byte, size_t n);

__attribute__((used)) void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    char *t = to;
    for (const char *f = from; n; n--) *t++ = *f++;
    return to;
}

__attribute__((used)) void *memset(void *to, int byte, size_t n) {
    for (char *t = to; n; n--) *t++ = (char)byte;
    return to;
}

#endif

#endif
