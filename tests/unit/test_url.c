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
    expect("http:///me:pa/ss@host/x", "http:///***@host/x");
    expect("a ftp:////me:1@", "a ftp:////***@");
}

static void what_is_no_secret_stays(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "://",
        ":////",
        "file:///tmp/a@b",
        "no url, me:pass@host",
        "http://host/@scope/name",
        "http://host:8080/users/a@b.org?c=d@e",
        "http://[::1]:80/a@b",
        "http://[::1]/a@b",
        "http://host?mail=a@b",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) expect(texts[i], texts[i]);
}

static void names_in_a_file_that_was_fetched(void **state) {
    (void)state;
    static const struct {
        const char *base, *name, *url;
    } rows[] = {
        {"http://h/a/b.yaml", "c.yaml", "http://h/a/c.yaml"},
        {"http://h/a/b.yaml", "./d/../c.yaml", "http://h/a/c.yaml"},
        {"http://h/a/b.yaml", "../c.yaml", "http://h/c.yaml"},
        {"http://h/a/b.yaml", "../../../c.yaml", "http://h/c.yaml"},
        {"http://h/a/b.yaml", "/c.yaml", "http://h/c.yaml"},
        {"http://h:80/a/b.yaml?x=/y/z#f", "c.yaml?q=../r", "http://h:80/a/c.yaml?q=../r"},
        {"https://h", "c.yaml", "https://h/c.yaml"},
        {"https://h?x=1", "c.yaml", "https://h/c.yaml"},
        {"https://h/", "c.yaml", "https://h/c.yaml"},
        {"https://u:p@h/a/", "c.yaml", "https://u:p@h/a/c.yaml"},
        {"a/b.yaml", "http://h/c.yaml", "http://h/c.yaml"},
        {"http://h/a", "https://k/c.yaml", "https://k/c.yaml"},
        {"http://h/a/b.yaml", "", "http://h/a/"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        Buf out = BUF_INIT;
        url_join(&out, rows[i].base, rows[i].name);
        buf_addc(&out, '\0');
        assert_string_equal(out.data, rows[i].url);
        buf_clear(&out);
    }
    assert_true(url_is_web("http://h") && url_is_web("https://h"));
    assert_true(url_is_web("HTTP://h") && url_is_other("ftp://h") && url_is_other("File:///h"));
    assert_false(url_is_other("https://h") || url_is_other("a/b://c") || url_is_other("://"));
    assert_false(url_is_web("ftp://h") || url_is_web("http:/h") || url_is_web(""));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(users_and_passwords_are_hidden),
        cmocka_unit_test(so_are_passwords_that_are_not_written_as_they_have_to_be),
        cmocka_unit_test(what_is_no_secret_stays),
        cmocka_unit_test(names_in_a_file_that_was_fetched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
