#include "net_policy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

static bool allows(const char *policy, const char *host, const char *address) {
    struct sockaddr_in four = {.sin_family = AF_INET};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6};
    Error err = ERROR_INIT;
    NetPolicy *p = net_policy_parse(policy, &err);
    if (!p) fail_msg("%s: %s", policy, err.msg);
    bool is_four = inet_pton(AF_INET, address, &four.sin_addr) == 1;
    if (!is_four) assert_int_equal(inet_pton(AF_INET6, address, &six.sin6_addr), 1);
    bool yes = net_policy_allows(
        p, host, is_four ? (const struct sockaddr *)&four : (const struct sockaddr *)&six);
    net_policy_free(p);
    return yes;
}

static void expect(const char *policy, const char *host, const char *const *addresses, bool want) {
    for (; *addresses; addresses++) {
        if (allows(policy, host, *addresses) != want) {
            fail_msg("%s: %s (%s)", policy, *addresses, want ? "refused" : "allowed");
        }
    }
}

static void public_is_what_the_internet_reaches(void **state) {
    (void)state;
    static const char *const yes[] = {"1.1.1.1",
                                      "8.8.8.8",
                                      "9.255.255.255",
                                      "11.0.0.0",
                                      "100.63.255.255",
                                      "100.128.0.0",
                                      "126.0.0.1",
                                      "128.0.0.1",
                                      "169.253.1.1",
                                      "172.15.255.255",
                                      "172.32.0.0",
                                      "192.0.1.1",
                                      "192.167.1.1",
                                      "198.17.1.1",
                                      "198.20.0.0",
                                      "223.255.255.255",
                                      "2606:4700::1111",
                                      "2a00::1",
                                      "::ffff:8.8.8.8",
                                      "64:ff9b::8.8.8.8",
                                      "2001:4860:4860::8888",
                                      NULL};
    static const char *const no[] = {"0.0.0.0",
                                     "0.1.2.3",
                                     "10.0.0.1",
                                     "100.64.0.1",
                                     "127.0.0.1",
                                     "127.255.255.254",
                                     "169.254.169.254",
                                     "172.16.0.1",
                                     "172.31.255.255",
                                     "192.0.0.1",
                                     "192.0.2.1",
                                     "192.88.99.1",
                                     "192.168.1.1",
                                     "198.18.0.1",
                                     "198.19.255.255",
                                     "198.51.100.1",
                                     "203.0.113.1",
                                     "224.0.0.1",
                                     "239.1.1.1",
                                     "240.0.0.1",
                                     "255.255.255.255",
                                     "::",
                                     "::1",
                                     "::127.0.0.1",
                                     "::ffff:127.0.0.1",
                                     "::ffff:10.0.0.1",
                                     "::ffff:0.0.0.0",
                                     "64:ff9b::127.0.0.1",
                                     "64:ff9b::10.0.0.1",
                                     "64:ff9b:1::1",
                                     "fe80::1",
                                     "fec0::1",
                                     "fc00::1",
                                     "fdff::1",
                                     "ff02::1",
                                     "100::1",
                                     "2001::1",
                                     "2001:db8::1",
                                     "2002:7f00:1::1",
                                     "2002:a00:1::",
                                     "3fff::1",
                                     "4000::1",
                                     "1::1",
                                     NULL};
    expect("public", "example.org", yes, true);
    expect("public", "example.org", no, false);
}

static void ranges_are_by_their_bits(void **state) {
    (void)state;
    static const char *const in[] = {"10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", NULL};
    static const char *const out[] = {"10.2.0.0", "10.0.255.255", "::10.1.0.1",
                                      "1.1.1.1",  "::1",          NULL};
    expect("10.1.0.0/16", "h", in, true);
    expect("10.1.0.0/16", "h", out, false);
    assert_true(allows("10.1.2.3", "h", "10.1.2.3"));
    assert_false(allows("10.1.2.3", "h", "10.1.2.4"));
    assert_true(allows("10.1.2.7/30", "h", "10.1.2.4"));
    assert_false(allows("10.1.2.7/30", "h", "10.1.2.8"));
    assert_true(allows("0.0.0.0/0", "h", "127.0.0.1"));
    assert_false(allows("0.0.0.0/0", "h", "::1"));
    assert_true(allows("::/0", "h", "::1"));
    assert_false(allows("::/0", "h", "127.0.0.1"));
    assert_true(allows("::ffff:127.0.0.1", "h", "127.0.0.1"));
    assert_true(allows("fd00::/8", "h", "fd12::1"));
    assert_false(allows("fd00::/8", "h", "fc12::1"));
}

static void names_count_wherever_they_lead(void **state) {
    (void)state;
    assert_true(allows("db.internal", "DB.Internal", "10.0.0.1"));
    assert_true(allows("db.internal", "db.internal.", "10.0.0.1"));
    assert_false(allows("db.internal", "xdb.internal", "10.0.0.1"));
    assert_false(allows("db.internal", "a.db.internal", "10.0.0.1"));
    assert_true(allows("*.internal", "a.b.internal", "10.0.0.1"));
    assert_false(allows("*.internal", "internal", "10.0.0.1"));
    assert_false(allows("*.internal", ".internal", "10.0.0.1"));
    assert_false(allows("*.internal", "evilinternal", "10.0.0.1"));
    assert_false(allows("localhost", "127.0.0.1", "127.0.0.1"));
    assert_false(allows("localhost", "", "127.0.0.1"));
}

static void a_list_allows_what_one_of_its_words_does(void **state) {
    (void)state;
    assert_true(allows(" public ,10.0.0.0/8,\tdb.internal", "db.internal", "192.168.0.1"));
    assert_true(allows("public,10.0.0.0/8", "h", "10.0.0.1"));
    assert_true(allows("public,10.0.0.0/8", "h", "8.8.8.8"));
    assert_false(allows("public,10.0.0.0/8", "h", "192.168.0.1"));
    assert_true(allows("10.0.0.0/8,any", "h", "::1"));
    NetPolicy *none = net_policy_new();
    struct sockaddr_in address = {.sin_family = AF_INET};
    assert_false(net_policy_allows(none, "h", (const struct sockaddr *)&address));
    assert_string_equal(net_policy_text(none), "nothing");
    net_policy_free(none);
}

static void other_kinds_of_addresses_are_refused(void **state) {
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/run/x"};
    NetPolicy *p = net_policy_parse("0.0.0.0/0,::/0", NULL), *any = net_policy_parse("any", NULL);
    assert_false(net_policy_allows(p, "h", (const struct sockaddr *)&address));
    assert_true(net_policy_allows(any, "h", (const struct sockaddr *)&address));
    net_policy_free(p);
    net_policy_free(any);
}

static void what_is_no_word_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {"",
                                        ",",
                                        "public,",
                                        "publics!",
                                        "10.0.0.0/33",
                                        "10.0.0.0/",
                                        "10.0.0.0/8x",
                                        "::/129",
                                        "10.0.0/8",
                                        "127.1",
                                        "0x7f.1",
                                        "2130706433",
                                        "0177.0.0.1",
                                        "a..b",
                                        ".a",
                                        "a.",
                                        "*",
                                        "*.",
                                        "*.*.a",
                                        "a.*",
                                        "http://a",
                                        "a:80",
                                        "[::1]",
                                        "a b",
                                        "-/8",
                                        "10.0.0.0/0008",
                                        "::1/-1",
                                        "a/8",
                                        "any public",
                                        "\xC3\xA4.org",
                                        NULL};
    for (const char *const *word = wrong; *word; word++) {
        Error err = ERROR_INIT;
        NetPolicy *p = net_policy_parse(*word, &err);
        if (p) fail_msg("%s", *word);
        assert_non_null(strstr(err.msg, "is none of: any, public"));
    }
    NetPolicy *p = net_policy_new();
    char longest[NET_WORD_MAX + 2];
    memset(longest, 'a', sizeof longest);
    assert_false(net_policy_add(p, longest, sizeof longest, NULL));
    assert_false(net_policy_add(p, "a\0b", 3, NULL));
    for (int i = 0; i < NET_WORDS_MAX; i++) assert_true(net_policy_add(p, "a", 1, NULL));
    assert_false(net_policy_add(p, "a", 1, NULL));
    net_policy_free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(public_is_what_the_internet_reaches),
        cmocka_unit_test(ranges_are_by_their_bits),
        cmocka_unit_test(names_count_wherever_they_lead),
        cmocka_unit_test(a_list_allows_what_one_of_its_words_does),
        cmocka_unit_test(other_kinds_of_addresses_are_refused),
        cmocka_unit_test(what_is_no_word_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
