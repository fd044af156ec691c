/* net_policy.h - which addresses requests may go to.
 *
 *     NetPolicy *p = net_policy_parse("public, *.internal.example, 10.1.0.0/16", &err);
 *     net_policy_allows(p, "api.internal.example", address)      after its name was looked up
 *     net_policy_free(p);
 *
 * A policy is a list, and an address is allowed when one of its words allows it:
 *
 *     any                             every address
 *     public                          addresses of the Internet: none that is loopback, private, shared, link-local, local to
 *                                     a site, multicast, reserved or for documentation, in whatever spelling. IPv4 inside
 *                                     of IPv6 (mapped, NAT64) is what it is inside; 6to4 and Teredo are not public
 *     10.0.0.0/8, ::1, 192.0.2.7      a range, or one address
 *     api.example.org, *.example.org  a host of that name, or all below it: wherever the name leads
 *
 * Immutable once it is made; any thread.
 */
#ifndef PAWL_NET_POLICY_H
#define PAWL_NET_POLICY_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/socket.h>

enum { NET_WORDS_MAX = 1000, NET_WORD_MAX = 300 }; /* words of a policy; bytes of one */

typedef struct NetPolicy NetPolicy;

/* Words parted by commas; blanks around them do not count. NULL on error. */
NetPolicy *net_policy_parse(const char *list, Error *err);
bool net_policy_add_list(NetPolicy *p, const char *list, Error *err); /* to those that are there */
/* The same, one by one: what is empty allows nothing. */
NetPolicy *net_policy_new(void);
bool net_policy_add(NetPolicy *p, const char *word, size_t len, Error *err);
void net_policy_free(NetPolicy *p); /* accepts NULL */

const char *net_policy_text(const NetPolicy *p); /* its words, for people */
bool net_policy_is_any(const NetPolicy *p);

/* Whether a connection to that address may be made for a host, which was named in the request: a name, or an address
 * with or without brackets. What is neither IPv4 nor IPv6 is not allowed but by `any`. */
bool net_policy_allows(const NetPolicy *p, const char *host, const struct sockaddr *address);

#endif
