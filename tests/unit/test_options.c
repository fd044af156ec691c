/* Command lines are read in order, by the rows of a command. */
#include "options.h"
#include "stores.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

typedef struct ProbeArgs {
    Common common;
    char log[256];
    int format;
    int64_t count;
} ProbeArgs;

static const Option options[] = {
    {"quiet", 'q', NULL, "", .id = 1},
    {"raw", 'r', NULL, "", .id = 2},
    {"from-file", 'f', "FILE", "", .id = 3},
    {"arg", 0, "NAME VALUE", "", .id = 4},
    {"indent", 0, "N", "", .id = 5},
    {"format", 0, "dot|mermaid|json", "", TAKES(OPTION_CHOICE, ProbeArgs, format),
     .completes = COMPLETE_WORDS},
    {"count", 0, "N", "", TAKES(OPTION_COUNT, ProbeArgs, count)},
    {0},
};

/* Writes down what it is given: "q" for a flag, "arg(a,b)" for values, "[word]" for an argument. */
static bool note(void *ctx, const Option *option, char **values) {
    char *log = ((ProbeArgs *)ctx)->log;
    char *end = log + strlen(log);
    if (!option) {
        sprintf(end, "[%s]", values[0]);
        return strcmp(values[0], "refuse") != 0;
    }
    switch (option_value_count(option)) {
    case 0: sprintf(end, "%s ", option->name); break;
    case 1: sprintf(end, "%s(%s) ", option->name, values[0]); break;
    default: sprintf(end, "%s(%s,%s) ", option->name, values[0], values[1]);
    }
    return true;
}

static ProbeArgs seen; /* what was taken from the last command line */
static bool acted;

static int act(void *args) {
    (void)args;
    acted = true;
    return EXIT_OK;
}

static void note_all(void *args) {
    seen = *(ProbeArgs *)args;
}

static const Command command = {.name = "probe",
                                .arguments = "[WORD...]",
                                .description = "",
                                .options = options,
                                .args = sizeof(ProbeArgs),
                                .handle = note,
                                .act = act,
                                .clear = note_all};

static int run(const char *const *words) {
    char *argv[16] = {(char *)(uintptr_t) "probe"};
    int argc = 1;
    for (; *words; words++) {
        argv[argc++] = (char *)(uintptr_t)*words;
    }
    acted = false;
    return options_run(&command, argc, argv);
}

#define READS(expected, ...)                             \
    do {                                                 \
        const char *const words[] = {__VA_ARGS__, NULL}; \
        assert_int_equal(run(words), EXIT_OK);           \
        assert_true(acted);                              \
        assert_string_equal(seen.log, expected);         \
    } while (0)

#define REFUSES(...)                                     \
    do {                                                 \
        const char *const words[] = {__VA_ARGS__, NULL}; \
        assert_int_equal(run(words), EXIT_USAGE);        \
        assert_false(acted);                             \
    } while (0)

static void flags_and_words_come_in_order(void **state) {
    (void)state;
    READS("[a]quiet [b]raw ", "a", "--quiet", "b", "-r");
}

static void short_flags_may_be_bundled(void **state) {
    (void)state;
    READS("quiet raw ", "-qr");
}

static void values_follow_the_bundle(void **state) {
    (void)state;
    READS("quiet from-file(x) raw [y]", "-qfr", "x", "y");
}

static void one_value_may_follow_an_equals_sign(void **state) {
    (void)state;
    READS("indent(4) indent(5) indent() ", "--indent=4", "--indent", "5", "--indent=");
}

static void two_values_are_the_next_two_words(void **state) {
    (void)state;
    READS("arg(a,--quiet) [c]", "--arg", "a", "--quiet", "c");
}

static void two_dashes_end_the_options(void **state) {
    (void)state;
    READS("quiet [--quiet][-r][--]", "-q", "--", "--quiet", "-r", "--");
}

static void a_dash_is_a_word(void **state) {
    (void)state;
    READS("[-]", "-");
}

static void what_it_does_not_know_is_refused(void **state) {
    (void)state;
    REFUSES("--quite");
    REFUSES("-qx");
}

static void missing_or_unwanted_values_are_refused(void **state) {
    (void)state;
    REFUSES("--indent");
    REFUSES("--arg", "a");
    REFUSES("--arg=a", "b");
    REFUSES("--quiet=1");
}

static void the_handler_may_refuse(void **state) {
    (void)state;
    REFUSES("a", "refuse", "--quiet");
}

static void help_comes_before_what_follows_it(void **state) {
    (void)state;
    const char *const words[] = {"-q", "--help", "--nonsense", NULL};
    assert_int_equal(run(words), EXIT_OK);
    assert_false(acted);
    assert_string_equal(seen.log, "quiet ");
}

static void a_word_is_known_by_its_place(void **state) {
    (void)state;
    READS("", "--format", "dot");
    assert_int_equal(seen.format, 1);
    READS("", "--format", "json");
    assert_int_equal(seen.format, 3);
    REFUSES("--format", "do");
    REFUSES("--format", "dot|mermaid");
    REFUSES("--format", "");
}

static void a_number_is_whole_and_large_enough(void **state) {
    (void)state;
    READS("", "--count", "17");
    assert_int_equal(seen.count, 17);
    static const char *const bad[] = {"", "0", "-3", "1.5", "1x", "x", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        REFUSES("--count", bad[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flags_and_words_come_in_order),
        cmocka_unit_test(short_flags_may_be_bundled),
        cmocka_unit_test(values_follow_the_bundle),
        cmocka_unit_test(one_value_may_follow_an_equals_sign),
        cmocka_unit_test(two_values_are_the_next_two_words),
        cmocka_unit_test(two_dashes_end_the_options),
        cmocka_unit_test(a_dash_is_a_word),
        cmocka_unit_test(what_it_does_not_know_is_refused),
        cmocka_unit_test(missing_or_unwanted_values_are_refused),
        cmocka_unit_test(the_handler_may_refuse),
        cmocka_unit_test(help_comes_before_what_follows_it),
        cmocka_unit_test(a_word_is_known_by_its_place),
        cmocka_unit_test(a_number_is_whole_and_large_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
