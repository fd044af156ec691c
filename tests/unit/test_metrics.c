/* Prometheus text as JSON. */
#include "metrics.h"

#include "json_print.h"
#include "mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void reads(const char *text, const char *want) {
    Error err = ERROR_INIT;
    size_t before = json_heap_bytes();
    Metrics got;
    if (!metrics_parse(text, strlen(text), &got, &err)) fail_msg("%s", err.msg);
    char *printed = json_to_text(got.all);
    assert_string_equal(printed, want);
    mem_free(printed);
    metrics_clear(&got);
    assert_int_equal(json_heap_bytes(), before);
}

static void refuses(const char *text, int line, const char *part) {
    Error err = ERROR_INIT;
    size_t before = json_heap_bytes();
    Metrics got;
    assert_false(metrics_parse(text, strlen(text), &got, &err));
    assert_int_equal(json_heap_bytes(), before);
    assert_int_equal(err.line, line);
    if (!strstr(err.msg, part)) fail_msg("`%s` is not in: %s", part, err.msg);
}

static void a_line_is_a_series_under_its_name(void **state) {
    (void)state;
    reads("up 1", "{\"up\":[{\"labels\":{},\"value\":1}]}");
    reads("up 1\nup 2\ndown 3\nup 4\n",
          "{\"up\":[{\"labels\":{},\"value\":1},{\"labels\":{},\"value\":2},"
          "{\"labels\":{},\"value\":4}],\"down\":[{\"labels\":{},\"value\":3}]}");
    reads("", "{}");
}

static void labels_are_an_object(void **state) {
    (void)state;
    reads("r{a=\"1\",b=\"x y\"} 2",
          "{\"r\":[{\"labels\":{\"a\":\"1\",\"b\":\"x y\"},\"value\":2}]}");
    reads("r { a = \"1\" , b = \"2\" , } 2",
          "{\"r\":[{\"labels\":{\"a\":\"1\",\"b\":\"2\"},\"value\":2}]}");
    reads("r{} 2", "{\"r\":[{\"labels\":{},\"value\":2}]}");
    reads("r{a=\"}# ,=\"} 2", "{\"r\":[{\"labels\":{\"a\":\"}# ,=\"},\"value\":2}]}");
    reads("r{a=\"\"} 2", "{\"r\":[{\"labels\":{\"a\":\"\"},\"value\":2}]}");
}

static void escapes_in_labels_are_read(void **state) {
    (void)state;
    reads("r{a=\"C:\\\\d\\\"e\\nf\"} 2",
          "{\"r\":[{\"labels\":{\"a\":\"C:\\\\d\\\"e\\nf\"},\"value\":2}]}");
}

static void labels_that_are_not_utf8_are_repaired(void **state) {
    (void)state;
    reads("r{a=\"\xff\"} 2", "{\"r\":[{\"labels\":{\"a\":\"\xef\xbf\xbd\"},\"value\":2}]}");
}

static void values_are_numbers(void **state) {
    (void)state;
    reads("v 1.5", "{\"v\":[{\"labels\":{},\"value\":1.5}]}");
    reads("v -0.25", "{\"v\":[{\"labels\":{},\"value\":-0.25}]}");
    reads("v 1.0", "{\"v\":[{\"labels\":{},\"value\":1}]}");
    reads("v 1.027e+06", "{\"v\":[{\"labels\":{},\"value\":1027000}]}");
    reads("v +5", "{\"v\":[{\"labels\":{},\"value\":5}]}");
    reads("v 9007199254740993", "{\"v\":[{\"labels\":{},\"value\":9007199254740993}]}");
}

static void infinities_and_nan_are_texts(void **state) {
    (void)state;
    reads("v +Inf", "{\"v\":[{\"labels\":{},\"value\":\"+Inf\"}]}");
    reads("v Inf", "{\"v\":[{\"labels\":{},\"value\":\"+Inf\"}]}");
    reads("v -Inf", "{\"v\":[{\"labels\":{},\"value\":\"-Inf\"}]}");
    reads("v NaN", "{\"v\":[{\"labels\":{},\"value\":\"NaN\"}]}");
}

static void timestamps_are_kept(void **state) {
    (void)state;
    reads("v 1 1395066363000", "{\"v\":[{\"labels\":{},\"value\":1,\"timestamp\":1395066363000}]}");
    reads("v 1 -3982045", "{\"v\":[{\"labels\":{},\"value\":1,\"timestamp\":-3982045}]}");
}

static void comments_blank_lines_and_exemplars_are_skipped(void **state) {
    (void)state;
    reads("# HELP v A \\n thing\n# TYPE v counter\n\n   \n# v 7\n  v 1\r\n# EOF\n",
          "{\"v\":[{\"labels\":{},\"value\":1}]}");
    reads("v_bucket{le=\"0.1\"} 8 # {id=\"x\"} 0.054",
          "{\"v_bucket\":[{\"labels\":{\"le\":\"0.1\"},\"value\":8}]}");
    reads("v 8 12 # {id=\"x\"} 0.054", "{\"v\":[{\"labels\":{},\"value\":8,\"timestamp\":12}]}");
}

static void lines_of_histograms_have_names_of_their_own(void **state) {
    (void)state;
    reads("h_bucket{le=\"+Inf\"} 3\nh_sum 5.5\nh_count 3\ns{quantile=\"0.5\"} 4",
          "{\"h_bucket\":[{\"labels\":{\"le\":\"+Inf\"},\"value\":3}],"
          "\"h_sum\":[{\"labels\":{},\"value\":5.5}],\"h_count\":[{\"labels\":{},\"value\":3}],"
          "\"s\":[{\"labels\":{\"quantile\":\"0.5\"},\"value\":4}]}");
}

static void names_may_hold_colons(void **state) {
    (void)state;
    reads("job:up:sum 1", "{\"job:up:sum\":[{\"labels\":{},\"value\":1}]}");
}

static void what_is_wrong_is_said_with_its_line(void **state) {
    (void)state;
    refuses("up 1\n\n<html>\n", 3, "Line 3");
    refuses("up 1\n\n<html>\n", 3, "no name of a metric: <html>");
    refuses("9up 1", 1, "no name");
    refuses("up", 1, "no value");
    refuses("up one", 1, "no value");
    refuses("up 1 soon", 1, "timestamp");
    refuses("up 1 2 3", 1, "after the timestamp");
    refuses("up{a=\"1\" 1", 1, "commas");
    refuses("up{a=\"1\" b=\"2\"} 1", 1, "commas");
    refuses("up{a=\"1} 1", 1, "does not end");
    refuses("up{a=1} 1", 1, "quotes");
    refuses("up{a} 1", 1, "=");
    refuses("up{=\"1\"} 1", 1, "without a name");
    refuses("up{a=\"\\t\"} 1", 1, "escape");
    refuses("up{a=\"\\", 1, "escape");
    refuses("up{a=\"1\",a=\"2\"} 1", 1, "twice");
    refuses("up{", 1, "label");
    refuses("up 0x1p3", 1, "no value");
    refuses("up 1e999", 1, "no value");
}

static void there_are_limits(void **state) {
    (void)state;
    Buf text = BUF_INIT;
    buf_adds(&text, "up{");
    for (int i = 0; i <= METRICS_LABELS_MAX; i++) buf_printf(&text, "a%d=\"\",", i);
    buf_adds(&text, "} 1");
    refuses(text.data, 1, "100 labels");
    buf_reset(&text);
    for (int i = 0; i <= METRICS_SERIES_MAX; i++) buf_adds(&text, "a 1\n");
    refuses(text.data, METRICS_SERIES_MAX + 1, "200000 series");
    buf_clear(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_is_a_series_under_its_name),
        cmocka_unit_test(labels_are_an_object),
        cmocka_unit_test(escapes_in_labels_are_read),
        cmocka_unit_test(labels_that_are_not_utf8_are_repaired),
        cmocka_unit_test(values_are_numbers),
        cmocka_unit_test(infinities_and_nan_are_texts),
        cmocka_unit_test(timestamps_are_kept),
        cmocka_unit_test(comments_blank_lines_and_exemplars_are_skipped),
        cmocka_unit_test(lines_of_histograms_have_names_of_their_own),
        cmocka_unit_test(names_may_hold_colons),
        cmocka_unit_test(what_is_wrong_is_said_with_its_line),
        cmocka_unit_test(there_are_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
