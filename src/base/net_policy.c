#include "net_policy.h"

#include "ascii.h"
#include "buf.h"
#include "mem.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    BYTES = 16,
    BITS = 8 * BYTES,
    BITS_V4 = 32,
    MAPPED = BITS - BITS_V4,
    LABEL_MAX = 63,
    HOST_MAX = 253
};

/* An address as IPv6; one of IPv4 is mapped. */
typedef struct Address {
    unsigned char bytes[BYTES];
} Address;

typedef struct Range {
    Address first;
    int bits; /* that count */
} Range;

typedef enum RuleKind { RULE_ANY, RULE_PUBLIC, RULE_RANGE, RULE_NAME, RULE_BELOW } RuleKind;

typedef struct Rule {
    RuleKind kind;
    Range range;
    char *name; /* of RULE_BELOW without the star: ".example.org" */
} Rule;

struct NetPolicy {
    Rule *rules;
    size_t n, cap;
    Buf text;
};

/* ---- addresses ---- */

static const unsigned char mapped_prefix[MAPPED / 8] = {[10] = 0xFF, 0xFF};
static const unsigned char nat64_prefix[MAPPED / 8] = {0x00, 0x64, 0xFF, 0x9B};

static Address from_v4(const void *bytes) {
    Address a;
    memcpy(a.bytes, mapped_prefix, sizeof mapped_prefix);
    memcpy(a.bytes + sizeof mapped_prefix, bytes, BITS_V4 / 8);
    return a;
}

static bool is_v4(const Address *a) {
    return memcmp(a->bytes, mapped_prefix, sizeof mapped_prefix) == 0;
}

static bool in_range(const Address *a, const Range *r) {
    int whole = r->bits / 8, rest = r->bits % 8;
    unsigned mask = rest ? 0xFFu << (8 - rest) & 0xFFu : 0;
    if (r->bits < MAPPED && is_v4(a)) return false; /* a range of IPv6 has no IPv4 in it */
    return memcmp(a->bytes, r->first.bytes, (size_t)whole) == 0 &&
           (!mask || ((a->bytes[whole] ^ r->first.bytes[whole]) & mask) == 0);
}

/* False: it is none. */
static bool read_address(const char *text, Address *out, bool *v4) {
    struct in_addr four;
    *v4 = inet_pton(AF_INET, text, &four) == 1;
    if (*v4) *out = from_v4(&four);
    return *v4 || inet_pton(AF_INET6, text, out->bytes) == 1;
}

static bool address_of(const struct sockaddr *address, Address *out) {
    if (address->sa_family == AF_INET) {
        struct sockaddr_in four;
        memcpy(&four, address, sizeof four);
        *out = from_v4(&four.sin_addr);
        return true;
    }
    if (address->sa_family != AF_INET6) return false;
    struct sockaddr_in6 six;
    memcpy(&six, address, sizeof six);
    memcpy(out->bytes, &six.sin6_addr, BYTES);
    return true;
}

/* What IANA has as not globally reachable; the last of IPv4 is everything from multicast on. */
static const char *const hidden_v4[] = {
    "0.0.0.0/8",     "10.0.0.0/8",      "100.64.0.0/10",  "127.0.0.0/8",    "169.254.0.0/16",
    "172.16.0.0/12", "192.0.0.0/24",    "192.0.2.0/24",   "192.88.99.0/24", "192.168.0.0/16",
    "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3",
};
/* Of what is in use of IPv6, 2000::/3. */
static const char *const hidden_v6[] = {"2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"};

static bool read_range(const char *text, Range *out);

static bool is_one_of(const Address *a, const char *const *ranges, size_t n) {
    for (size_t i = 0; i < n; i++) {
        Range range;
        if (read_range(ranges[i], &range) && in_range(a, &range)) return true;
    }
    return false;
}

static bool is_public(const Address *a) {
    if (memcmp(a->bytes, nat64_prefix, sizeof nat64_prefix) == 0) {
        Address inside = from_v4(a->bytes + sizeof nat64_prefix);
        return is_public(&inside);
    }
    if (is_v4(a)) return !is_one_of(a, hidden_v4, sizeof hidden_v4 / sizeof *hidden_v4);
    return (a->bytes[0] & 0xE0) == 0x20 &&
           !is_one_of(a, hidden_v6, sizeof hidden_v6 / sizeof *hidden_v6);
}

/* ---- words ---- */

/* ADDRESS or ADDRESS/BITS; false: it is none. */
static bool read_range(const char *text, Range *out) {
    char address[NET_WORD_MAX + 1];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : strlen(text);
    bool v4;
    if (len > NET_WORD_MAX) return false;
    memcpy(address, text, len);
    address[len] = '\0';
    if (!read_address(address, &out->first, &v4)) return false;
    int most = v4 ? BITS_V4 : BITS, bits = most;
    if (slash) {
        size_t digits = strspn(slash + 1, "0123456789");
        bits = digits && digits <= 3 && !slash[1 + digits] ? atoi(slash + 1) : most + 1;
    }
    out->bits = bits + (v4 ? MAPPED : 0);
    return bits <= most;
}

/* Labels of letters, digits, '-' and '_'. The last does not begin with a digit: 1.2, 0x7f.1 and 2130706433 are
 * addresses to those who look names up. */
static bool is_name(const char *text) {
    size_t all = strlen(text), len = 0;
    const char *last = text;
    for (const char *label = text; label; label = label[len] ? label + len + 1 : NULL) {
        len = strcspn(label, ".");
        if (!len || len > LABEL_MAX) return false;
        for (size_t i = 0; i < len; i++) {
            if (!ascii_is_name(label[i]) && label[i] != '-') return false;
        }
        last = label;
    }
    return all <= HOST_MAX && !(last[0] >= '0' && last[0] <= '9');
}

static bool read_word(const char *text, Rule *rule) {
    *rule = (Rule){.kind = RULE_ANY};
    if (!strcasecmp(text, "any")) return true;
    rule->kind = RULE_PUBLIC;
    if (!strcasecmp(text, "public")) return true;
    rule->kind = RULE_RANGE;
    if (read_range(text, &rule->range)) return true;
    bool below = text[0] == '*' && text[1] == '.';
    rule->kind = below ? RULE_BELOW : RULE_NAME;
    if (!is_name(text + (below ? 2 : 0))) return false;
    rule->name = mem_strdup(text + below);
    return true;
}

bool net_policy_add(NetPolicy *p, const char *word, size_t len, Error *err) {
    char text[NET_WORD_MAX + 1];
    Rule rule;
    size_t fits = len <= NET_WORD_MAX ? len : 0;
    memcpy(text, word, fits);
    text[fits] = '\0';
    if (p->n >= NET_WORDS_MAX) {
        return error_set(err, ERR_LIMIT, "There are more than %d words.", NET_WORDS_MAX);
    }
    if (!fits || memchr(text, '\0', len) || !read_word(text, &rule)) {
        return error_set(err, ERR_USAGE,
                         "`%.*s` is none of: any, public, a host such as api.example.org or "
                         "*.example.org, an address, a range such as 10.0.0.0/8.",
                         (int)(len < 100 ? len : 100), word);
    }
    p->rules = mem_grow(p->rules, p->n, &p->cap, sizeof *p->rules);
    p->rules[p->n++] = rule;
    buf_printf(&p->text, "%s%s", p->n > 1 ? ", " : "", text);
    return true;
}

/* ---- life ---- */

NetPolicy *net_policy_new(void) {
    return mem_zalloc(sizeof(NetPolicy));
}

bool net_policy_add_list(NetPolicy *p, const char *list, Error *err) {
    for (const char *at = list; at; at = *at ? at + 1 : NULL) {
        at += strspn(at, " \t");
        size_t all = strcspn(at, ","), len = all;
        while (len && strchr(" \t", at[len - 1])) len--;
        if (!net_policy_add(p, at, len, err)) return false;
        at += all;
    }
    return true;
}

NetPolicy *net_policy_parse(const char *list, Error *err) {
    NetPolicy *p = net_policy_new();
    if (net_policy_add_list(p, list, err)) return p;
    net_policy_free(p);
    return NULL;
}

void net_policy_free(NetPolicy *p) {
    if (!p) return;
    for (size_t i = 0; i < p->n; i++) mem_free(p->rules[i].name);
    mem_free(p->rules);
    buf_clear(&p->text);
    mem_free(p);
}

const char *net_policy_text(const NetPolicy *p) {
    return p->text.data ? p->text.data : "nothing";
}

bool net_policy_is_any(const NetPolicy *p) {
    for (size_t i = 0; i < p->n; i++) {
        if (p->rules[i].kind == RULE_ANY) return true;
    }
    return false;
}

/* ---- asking ---- */

/* A dot at the end of a host does not count. */
static bool names_host(const Rule *rule, const char *host, size_t len) {
    size_t name = strlen(rule->name);
    len -= len && host[len - 1] == '.';
    if (rule->kind == RULE_BELOW && len > name) {
        host += len - name;
        len = name;
    } else if (rule->kind == RULE_BELOW) {
        return false;
    }
    return len == name && strncasecmp(host, rule->name, len) == 0;
}

bool net_policy_allows(const NetPolicy *p, const char *host, const struct sockaddr *address) {
    Address a;
    if (net_policy_is_any(p)) return true;
    if (!address_of(address, &a)) return false;
    for (size_t i = 0; i < p->n; i++) {
        const Rule *rule = &p->rules[i];
        bool allows = rule->kind == RULE_PUBLIC  ? is_public(&a)
                      : rule->kind == RULE_RANGE ? in_range(&a, &rule->range)
                                                 : names_host(rule, host, strlen(host));
        if (allows) return true;
    }
    return false;
}
