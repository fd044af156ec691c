#include "url.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

static void expect(const char *text, const char *want) {
    Buf out = BUF_INIT;
    url_hide(&out, text, strlen(text));
    assert_string_equal(out.data ? out.data : "", want);
    buf_clear(&out);
}

static void users_and_passwords_are_hidden(void **state) {
    (void)state;
    expect("http://me:secret@host/x", "http://***@host/x");
    expect("http://me@host", "http://***@host");
    expect("see \"https://a:b@c/d?e\" and ftp://e:f@g.",
           "see \"https://***@c/d?e\" and ftp://***@g.");
    expect("http://a:b@c@d/e", "http://***@d/e");
}

static void so_are_passwords_that_are_not_written_as_they_have_to_be(void **state) {
    (void)state;
    expect("http://me:pa/ss@host/x", "http://***@host/x");
    expect("http://me:pa?ss#1@host/x", "http://***@host/x");
    expect("http://me:1234567/8@host/x", "http://***@host/x");
    expect("http://me:p/a@s@host/x", "http://***@host/x");
}

static void what_is_no_secret_stays(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "://",
        "no url, me:pass@host",
        "http://host/@scope/name",
        "http://host:8080/users/a@b.org?c=d@e",
        "http://[::1]:80/a@b",
        "http://[::1]/a@b",
        "http://host?mail=a@b",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect(texts[i], texts[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_and_passwords_are_hidden),
        cmocka_unit_test(so_are_passwords_that_are_not_written_as_they_have_to_be),
        cmocka_unit_test(what_is_no_secret_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
