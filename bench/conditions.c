/* conditions.c - the ten conditions and the state. */
#include "conditions.h"

const char *const conditions[CONDITIONS] = {
    ".error_count > 5 and (.status | startswith(\"run\"))",
    ".decision == \"approve\"",
    ".retries < 3",
    "(.files | length) > 0",
    "any(.items[]; .state == \"failed\")",
    ".user.role == \"admin\" or .user.id == 7",
    ".name | test(\"^build-\")",
    ".tags | index(\"x\") != null",
    ".a.b.c // 0 | . >= 10",
    "[.results[] | select(.ok)] | length == 3",
};

const char condition_state[] =
    "{\"id\": \"run-2041\", \"name\": \"build-server\", \"status\": \"running\","
    " \"started\": \"2024-03-05T14:22:31Z\", \"step\": 17, \"retries\": 2, \"error_count\": 9,"
    " \"decision\": \"approve\", \"progress\": 0.4375, \"parent\": null, \"dry\": false,"
    " \"user\": {\"id\": 7, \"role\": \"author\", \"email\": \"someone@example.org\","
    "  \"teams\": [\"core\", \"docs\"]},"
    " \"tags\": [\"nightly\", \"linux\", \"x\", \"release\"],"
    " \"a\": {\"b\": {\"c\": 12, \"d\": [1, 2, 3]}, \"e\": \"unused\"},"
    " \"files\": ["
    "  {\"path\": \"src/main.c\", \"added\": 12, \"removed\": 4, \"binary\": false},"
    "  {\"path\": \"src/parse.c\", \"added\": 230, \"removed\": 18, \"binary\": false},"
    "  {\"path\": \"src/parse.h\", \"added\": 9, \"removed\": 0, \"binary\": false},"
    "  {\"path\": \"docs/guide.md\", \"added\": 71, \"removed\": 33, \"binary\": false},"
    "  {\"path\": \"web/logo.png\", \"added\": 0, \"removed\": 0, \"binary\": true}],"
    " \"items\": ["
    "  {\"id\": 1, \"state\": \"done\", \"took\": 1.25, \"title\": \"fetch the sources\"},"
    "  {\"id\": 2, \"state\": \"done\", \"took\": 14.5, \"title\": \"compile everything\"},"
    "  {\"id\": 3, \"state\": \"done\", \"took\": 30.75, \"title\": \"run the unit tests\"},"
    "  {\"id\": 4, \"state\": \"skipped\", \"took\": 0, \"title\": \"sign the packages\"},"
    "  {\"id\": 5, \"state\": \"failed\", \"took\": 2.5, \"title\": \"publish to the mirror\"},"
    "  {\"id\": 6, \"state\": \"waiting\", \"took\": 0, \"title\": \"tell the people\"}],"
    " \"results\": ["
    "  {\"ok\": true, \"score\": 0.91, \"by\": \"linter\", \"text\": \"no remarks\"},"
    "  {\"ok\": false, \"score\": 0.42, \"by\": \"tests\", \"text\": \"2 of 418 cases failed\"},"
    "  {\"ok\": true, \"score\": 0.88, \"by\": \"reviewer\","
    "   \"text\": \"Reads well; the second paragraph could say \\\"why\\\" sooner.\"},"
    "  {\"ok\": true, \"score\": 0.97, \"by\": \"size\", \"text\": \"4 KB smaller than before\"}],"
    " \"history\": ["
    "  {\"at\": 1709648551, \"node\": \"start\", \"to\": \"fetch\"},"
    "  {\"at\": 1709648553, \"node\": \"fetch\", \"to\": \"compile\"},"
    "  {\"at\": 1709648568, \"node\": \"compile\", \"to\": \"tests\"},"
    "  {\"at\": 1709648599, \"node\": \"tests\", \"to\": \"publish\"}],"
    " \"config\": {\"region\": \"eu-north\", \"timeout\": 900, \"limits\": {\"cpu\": 2,"
    "  \"memory\": 4294967296}, \"notify\": [\"mail\", \"chat\"]}}";
