/* vault.h, and secrets.h beside it. */
#include "json_print.h"
#include "mem.h"
#include "secrets.h"
#include "vault.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

typedef struct World {
    char folder[64];
    Buf key, file;
    Vault vault;
} World;

static int set_up(void **state) {
    World *w = mem_zalloc(sizeof *w);
    strcpy(w->folder, "/tmp/pawl-vault-XXXXXX");
    assert_non_null(mkdtemp(w->folder));
    buf_printf(&w->key, "%s/config/pawl/key", w->folder);
    buf_printf(&w->file, "%s/secrets", w->folder);
    w->vault = (Vault){w->folder, w->key.data};
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    World *w = *state;
    static const char *const left[] = {
        "secrets", "secrets.lock", "config/pawl/key", "config/pawl", "config", "A", "B", "LINK"};
    for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
        Buf path = BUF_INIT;
        buf_printf(&path, "%s/%s", w->folder, left[i]);
        remove(path.data);
        buf_clear(&path);
    }
    assert_int_equal(rmdir(w->folder), 0);
    buf_clear(&w->key);
    buf_clear(&w->file);
    mem_free(w);
    return 0;
}

static void set(World *w, const char *name, const char *value) {
    Error err = ERROR_INIT;
    if (!vault_set(&w->vault, name, value, strlen(value), &err)) fail_msg("%s", err.msg);
}

static void has(World *w, const char *name, const char *expected) {
    Error err = ERROR_INIT;
    Buf value = BUF_INIT;
    bool found = vault_get(&w->vault, name, &value, &err);
    assert_int_equal(err.code, ERR_NONE);
    assert_int_equal(found, expected != NULL);
    if (found) assert_string_equal(value.data, expected);
    buf_clear(&value);
}

static void refuses(World *w, const char *name, const char *says) {
    Error err = ERROR_INIT;
    Buf value = BUF_INIT;
    assert_false(vault_get(&w->vault, name, &value, &err));
    assert_int_equal(err.code, ERR_SECRET);
    if (!strstr(err.msg, says)) fail_msg("%s", err.msg);
    assert_int_equal(value.len, 0);
}

static void put(const char *path, const char *text) {
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    chmod(path, 0600);
}

static char *text_of(const char *path) {
    Buf text = BUF_INIT;
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (int c; (c = fgetc(file)) != EOF;) buf_addc(&text, (char)c);
    fclose(file);
    return buf_detach(&text);
}

static mode_t mode_of(const char *path) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return st.st_mode & 07777;
}

static void values_come_back(void **state) {
    World *w = *state;
    has(w, "A", NULL);
    set(w, "A", "hunter2-secret");
    set(w, "B", "another\nof two lines");
    set(w, "A", "hunter3-secret");
    has(w, "A", "hunter3-secret");
    has(w, "B", "another\nof two lines");
    has(w, "C", NULL);
    Error err = ERROR_INIT;
    Json list = vault_list(&w->vault, &err);
    assert_int_equal(json_array_len(list), 2);
    assert_true(json_string_is(json_object_get_c(json_array_get(list, 0), "name"), "A"));
    json_unref(list);
    char *text = text_of(w->file.data);
    assert_null(strstr(text, "hunter"));
    mem_free(text);
    assert_int_equal(mode_of(w->file.data), 0600);
    assert_int_equal(mode_of(w->key.data), 0600);
    bool was;
    assert_true(vault_remove(&w->vault, "A", &was, &err) && was);
    assert_true(vault_remove(&w->vault, "A", &was, &err) && !was);
    has(w, "A", NULL);
    has(w, "B", "another\nof two lines");
    assert_true(vault_remove(&w->vault, "B", &was, &err) && was);
    assert_int_equal(access(w->file.data, F_OK), -1);
}

static void a_long_one_is_refused(void **state) {
    World *w = *state;
    Error err = ERROR_INIT;
    char *value = mem_zalloc(SECRET_MAX + 2);
    memset(value, 'x', SECRET_MAX + 1);
    assert_false(vault_set(&w->vault, "A", value, SECRET_MAX + 1, &err));
    assert_int_equal(err.code, ERR_LIMIT);
    error_clear(&err);
    assert_true(vault_set(&w->vault, "A", value, SECRET_MAX, &err));
    value[SECRET_MAX] = '\0';
    has(w, "A", value);
    mem_free(value);
}

static void the_key_has_to_be_the_right_one_and_closed(void **state) {
    World *w = *state;
    Error err = ERROR_INIT;
    set(w, "A", "hunter2-secret");
    char *key = text_of(w->key.data);
    chmod(w->key.data, 0640);
    refuses(w, "A", "can be used by others: its mode is 0640");
    chmod(w->key.data, 0604);
    refuses(w, "A", "can be used by others");
    assert_false(vault_set(&w->vault, "B", "another-secret", 14, &err));
    chmod(w->key.data, 0600);
    has(w, "A", "hunter2-secret");
    put(w->key.data, "pawl-key-1 0123");
    refuses(w, "A", "holds no key");
    put(w->key.data, "");
    refuses(w, "A", "holds no key");
    char *other = mem_strndup(key, strlen(key));
    other[20] = other[20] == '0' ? '1' : '0';
    put(w->key.data, other);
    refuses(w, "A", "holds another key");
    error_clear(&err);
    assert_false(vault_set(&w->vault, "B", "another-secret", 14, &err));
    assert_non_null(strstr(err.msg, "holds another key"));
    /* Lost: no other is made, and what is there can still be listed and removed. */
    unlink(w->key.data);
    refuses(w, "A", "is not there");
    error_clear(&err);
    assert_false(vault_set(&w->vault, "B", "another-secret", 14, &err));
    assert_int_equal(access(w->key.data, F_OK), -1);
    error_clear(&err);
    Json list = vault_list(&w->vault, &err);
    assert_int_equal(json_array_len(list), 1);
    json_unref(list);
    bool was;
    assert_true(vault_remove(&w->vault, "A", &was, &err) && was);
    set(w, "B", "with a new key");
    has(w, "B", "with a new key");
    mem_free(key);
    mem_free(other);
}

static void damage_is_told(void **state) {
    World *w = *state;
    set(w, "A", "hunter2-secret");
    set(w, "B", "another-secret");
    char *text = text_of(w->file.data);
    /* The values change places: a name belongs to its value. */
    char *a = strstr(text, "\"value\": \"") + 10, *b = strstr(a, "\"value\": \"") + 10;
    size_t len = strcspn(a, "\"");
    assert_int_equal(len, strcspn(b, "\""));
    char *swapped = mem_strndup(text, strlen(text));
    memcpy(swapped + (a - text), b, len);
    put(w->file.data, swapped);
    refuses(w, "A", "cannot be decrypted");
    has(w, "B", "another-secret");
    /* Every byte of it. */
    for (size_t i = 0; text[i]; i++) {
        char *changed = mem_strndup(text, strlen(text));
        changed[i] = changed[i] == 'x' ? 'y' : 'x';
        put(w->file.data, changed);
        Error err = ERROR_INIT;
        Buf value = BUF_INIT;
        bool found = vault_get(&w->vault, "A", &value, &err);
        if (found) assert_string_equal(value.data, "hunter2-secret");
        if (!found) assert_int_equal(value.len, 0);
        buf_clear(&value);
        mem_free(changed);
    }
    put(w->file.data, "{\"format\": 2}");
    refuses(w, "A", "newer version");
    put(w->file.data, "");
    refuses(w, "A", "is damaged");
    Error err = ERROR_INIT;
    assert_false(
        vault_set(&w->vault, "A", "hunter2-secret", 14, &err)); /* and it is not written over */
    mem_free(text);
    mem_free(swapped);
}

/* ---- where they are looked for ---- */

static void finds(const SecretPlaces *places, const char *name, const char *expected) {
    Error err = ERROR_INIT;
    Buf value = BUF_INIT;
    bool found = secret_find(places, name, &value, &err);
    if (err.code != ERR_NONE) fail_msg("%s", err.msg);
    assert_int_equal(found, expected != NULL);
    if (found) assert_string_equal(value.data, expected);
    buf_clear(&value);
}

static void write_in(const World *w, const char *name, const char *text) {
    Buf path = BUF_INIT;
    buf_printf(&path, "%s/%s", w->folder, name);
    put(path.data, text);
    buf_clear(&path);
}

static void a_folder_goes_before_variables_and_those_before_the_store(void **state) {
    World *w = *state;
    char a[] = "PAWL_SECRET_A=of the environment", b[] = "PAWL_SECRET_B=b of it";
    char *environment[] = {a, b, NULL};
    SecretPlaces places = {NULL, environment, w->folder, w->key.data};
    set(w, "A", "of the store");
    set(w, "C", "c of the store");
    finds(&places, "A", "of the environment");
    finds(&places, "C", "c of the store");
    finds(&places, "D", NULL);
    write_in(w, "A", "of the folder\n");
    places.folder = w->folder;
    finds(&places, "A", "of the folder");
    finds(&places, "B", "b of it");
    places.environment = NULL;
    places.store_folder = NULL;
    finds(&places, "B", NULL);
}

static void one_newline_is_taken_from_files(void **state) {
    World *w = *state;
    SecretPlaces places = {.folder = w->folder};
    static const char *const cases[][2] = {{"text", "text"},
                                           {"text\n", "text"},
                                           {"text\r\n", "text"},
                                           {"text\n\n", "text\n"},
                                           {"text\r", "text\r"},
                                           {" text \n", " text "},
                                           {"two\nlines\n", "two\nlines"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_in(w, "A", cases[i][0]);
        finds(&places, "A", cases[i][1]);
    }
}

static void what_is_no_file_of_ours_is_an_error(void **state) {
    World *w = *state;
    SecretPlaces places = {.folder = w->folder};
    Error err = ERROR_INIT;
    Buf value = BUF_INIT, path = BUF_INIT;
    buf_printf(&path, "%s/A", w->folder);
    assert_int_equal(mkfifo(path.data, 0600), 0);
    assert_false(secret_find(&places, "A", &value, &err));
    assert_int_equal(err.code, ERR_SECRET);
    unlink(path.data);
    /* A link is followed: Kubernetes has them. */
    write_in(w, "B", "linked secret");
    assert_int_equal(symlink("B", path.data), 0);
    finds(&places, "A", "linked secret");
    unlink(path.data);
    char *large = mem_zalloc(SECRET_MAX + 2);
    memset(large, 'x', SECRET_MAX + 1);
    put(path.data, large);
    error_clear(&err);
    assert_false(secret_find(&places, "A", &value, &err));
    assert_int_equal(err.code, ERR_SECRET);
    chmod(w->folder, 0777);
    error_clear(&err);
    assert_false(secret_find(&places, "B", &value, &err));
    assert_int_equal(err.code, ERR_SECRET);
    chmod(w->folder, 0700);
    places.folder = "/nonexistent/secrets";
    error_clear(&err);
    assert_false(secret_find(&places, "B", &value, &err));
    assert_int_equal(err.code, ERR_SECRET);
    mem_free(large);
    buf_clear(&path);
    buf_clear(&value);
}

static void the_key_file_is_where_the_environment_says(void **state) {
    (void)state;
    static char home[] = "HOME=/home/a", config[] = "XDG_CONFIG_HOME=/etc/x";
    static char file[] = "PAWL_KEY_FILE=k", relative[] = "XDG_CONFIG_HOME=relative";
    static char *const environments[][4] = {
        {home, NULL}, {home, config, NULL}, {home, config, file, NULL}, {relative, NULL}};
    static const char *const expected[] = {"/home/a/.config/pawl/key", "/etc/x/pawl/key", "k",
                                           NULL};
    for (size_t i = 0; i < 4; i++) {
        char *path = secret_key_file(environments[i]);
        if (expected[i]) {
            assert_string_equal(path, expected[i]);
        } else {
            assert_null(path);
        }
        mem_free(path);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(values_come_back),
        TEST(a_long_one_is_refused),
        TEST(the_key_has_to_be_the_right_one_and_closed),
        TEST(damage_is_told),
        TEST(a_folder_goes_before_variables_and_those_before_the_store),
        TEST(one_newline_is_taken_from_files),
        TEST(what_is_no_file_of_ours_is_an_error),
        TEST(the_key_file_is_where_the_environment_says),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
