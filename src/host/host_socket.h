/* host_socket.h - the socket of a host in the folder of its store: where it is and who may use it. One for
 * each process, called host-PID.sock.
 *
 * A path may be longer than an address of a socket can be; it is then reached through a descriptor of
 * its folder. Both sides ask the kernel who the other one is.
 */
#ifndef PAWL_HOST_SOCKET_H
#define PAWL_HOST_SOCKET_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of what is said on it (serve/socket.h). Whoever connects hangs up on another version than its own. */
enum { HOST_SOCKET_PROTOCOL = 1 };

/* A name in a folder, whatever becomes of the current one. */
typedef struct SocketPlace {
    int folder; /* descriptor */
    char name[48];
    dev_t device; /* of what host_socket_listen() made */
    ino_t inode;
} SocketPlace;

bool socket_place_open(SocketPlace *place, const char *folder, int64_t pid, Error *err);
void socket_place_close(SocketPlace *place);
/* Removes what host_socket_listen() made, unless somebody has put another in its place. */
void socket_place_remove(const SocketPlace *place);

/* Removes the sockets of processes that are gone from the folder. */
void socket_place_tidy(const SocketPlace *place);

/* Removes a socket that somebody left there; anything else is left alone, which is an error. */
bool socket_place_vacate(const SocketPlace *place, Error *err);

/* Descriptors; -1 on error. The place is vacated first. */
int host_socket_listen(SocketPlace *place, Error *err);
/* Sets errno's value in *why too: ENOENT and ECONNREFUSED when nobody listens. */
int host_socket_connect(const SocketPlace *place, int *why, Error *err);

/* The other end is of the same user, or of root. Or, as a client, we are root ourselves. */
bool host_socket_trusts(int fd, bool as_client);

/* A write to an end that has gone is an error to us and no reason to die, unless the program has
 * ideas of its own about that signal. */
void host_ignore_sigpipe(void);

#endif
