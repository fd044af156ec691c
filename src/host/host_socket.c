#define _GNU_SOURCE
#include "host_socket.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 8, CONNECT_SECONDS = 5 };

/* ---- places ---- */

bool socket_place_open(SocketPlace *place, const char *folder, int64_t pid, Error *err) {
    *place = (SocketPlace){.folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)};
    snprintf(place->name, sizeof place->name, "host-%lld.sock", (long long)pid);
    return place->folder >= 0 ||
           error_set(err, ERR_IO, "The folder %s for the sockets of hosts cannot be opened: %s.",
                     folder, strerror(errno));
}

void socket_place_close(SocketPlace *place) {
    if (place->folder >= 0) close(place->folder);
    place->folder = -1;
}

void socket_place_remove(const SocketPlace *place) {
    struct stat st;
    if (place->inode && fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        st.st_ino == place->inode && st.st_dev == place->device) {
        unlinkat(place->folder, place->name, 0);
    }
}

bool socket_place_vacate(const SocketPlace *place, Error *err) {
    struct stat st;
    if (fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0) return true;
    if (!S_ISSOCK(st.st_mode)) {
        return error_set(err, ERR_IO, "%s in the folder of the store is not a socket; remove it.",
                         place->name);
    }
    return unlinkat(place->folder, place->name, 0) == 0 || errno == ENOENT ||
           error_set(err, ERR_IO, "The old socket %s cannot be removed: %s.", place->name,
                     strerror(errno));
}

void socket_place_tidy(const SocketPlace *place) {
    int fd = openat(place->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        long long pid;
        char end;
        bool ours = sscanf(entry->d_name, "host-%lld.soc%c", &pid, &end) == 2 && end == 'k';
        struct stat st;
        if (ours && pid > 1 && kill((pid_t)pid, 0) != 0 && errno == ESRCH &&
            fstatat(place->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            S_ISSOCK(st.st_mode)) {
            SocketPlace old = {.folder = place->folder};
            int why;
            snprintf(old.name, sizeof old.name, "%.40s", entry->d_name);
            int peer = host_socket_connect(&old, &why, NULL);
            if (peer >= 0) { /* of a process that has its numbers elsewhere */
                close(peer);
            } else if (why == ECONNREFUSED) {
                unlinkat(place->folder, entry->d_name, 0);
            }
        }
    }
    if (dir) {
        closedir(dir);
    } else if (fd >= 0) {
        close(fd);
    }
}

/* Always short enough, wherever the folder is. */
static socklen_t address_of(const SocketPlace *place, struct sockaddr_un *out) {
    memset(out, 0, sizeof *out);
    out->sun_family = AF_UNIX;
    snprintf(out->sun_path, sizeof out->sun_path, "/proc/self/fd/%d/%s", place->folder,
             place->name);
    return sizeof *out;
}

static int new_socket(Error *err) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) error_set(err, ERR_IO, "No socket can be made: %s.", strerror(errno));
    return fd;
}

static int give_up(int fd) {
    close(fd);
    return -1;
}

/* ---- listening ---- */

/* Nobody can connect before listen(), so there is no moment in which others could. */
static bool bind_for_us_alone(SocketPlace *place, int fd) {
    struct sockaddr_un address;
    struct stat st;
    socklen_t len = address_of(place, &address);
    if (bind(fd, (struct sockaddr *)&address, len) != 0 ||
        fchmodat(place->folder, place->name, S_IRUSR | S_IWUSR, 0) != 0 ||
        fstatat(place->folder, place->name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
        return false;
    }
    place->device = st.st_dev;
    place->inode = st.st_ino;
    return listen(fd, BACKLOG) == 0;
}

int host_socket_listen(SocketPlace *place, Error *err) {
    int fd = socket_place_vacate(place, err) ? new_socket(err) : -1;
    if (fd < 0 || bind_for_us_alone(place, fd)) return fd;
    error_set(err, ERR_IO, "The socket %s for other processes cannot be made: %s.", place->name,
              strerror(errno));
    socket_place_remove(place);
    return give_up(fd);
}

/* ---- connecting ---- */

int host_socket_connect(const SocketPlace *place, int *why, Error *err) {
    struct timeval limit = {.tv_sec = CONNECT_SECONDS};
    struct sockaddr_un address;
    socklen_t len = address_of(place, &address);
    int fd = new_socket(err);
    *why = 0;
    if (fd < 0) return fd;
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit,
               sizeof limit); /* connect() waits so long for a busy one */
    if (connect(fd, (struct sockaddr *)&address, len) == 0) return fd;
    *why = errno;
    error_set(err, ERR_IO, "The process that has the run cannot be reached through %s: %s.",
              place->name, strerror(errno == EAGAIN ? ETIMEDOUT : errno));
    return give_up(fd);
}

/* ---- who it is ---- */

bool host_socket_trusts(int fd, bool as_client) {
    struct ucred peer = {0};
    socklen_t len = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) != 0 || len != sizeof peer) {
        return false;
    }
    return peer.uid == geteuid() || peer.uid == 0 || (as_client && geteuid() == 0);
}

void host_ignore_sigpipe(void) {
    struct sigaction now;
    if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}
