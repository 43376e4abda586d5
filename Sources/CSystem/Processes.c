#ifdef __linux__
#define _GNU_SOURCE // pipe2, accept4
#endif
#include "Processes.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#endif

void cps_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

void cps_forbid_backtraces(void) {
    static const int signals[] = {SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP};
    for (unsigned i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct sigaction standard = {0};
        standard.sa_handler = SIG_DFL;
        sigemptyset(&standard.sa_mask);
        sigaction(signals[i], &standard, NULL);
    }
}

void cps_return_large_blocks(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

void cps_raise_file_limit(unsigned count) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= count) return;
    limit.rlim_cur = limit.rlim_max < count ? limit.rlim_max : count;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int cps_pipe(int ends[2]) {
#ifdef __linux__
    return pipe2(ends, O_CLOEXEC);
#else
    // A program that another thread starts before the second call inherits both: this system has no other way.
    if (pipe(ends) != 0) return -1;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
    return 0;
#endif
}

int cps_socket(int family, int type, int protocol) {
#ifdef SOCK_CLOEXEC
    return socket(family, type | SOCK_CLOEXEC, protocol);
#else
    int made = socket(family, type, protocol);
    if (made >= 0) fcntl(made, F_SETFD, FD_CLOEXEC);
    return made;
#endif
}

int cps_listen(const char *host, unsigned short port) {
    struct sockaddr_in four = {0};
    struct sockaddr_in6 six = {0};
    struct sockaddr *address = (struct sockaddr *)&four;
    socklen_t length = sizeof four;
    if (inet_pton(AF_INET, host, &four.sin_addr) == 1) {
        four.sin_family = AF_INET;
        four.sin_port = htons(port);
    } else if (inet_pton(AF_INET6, host, &six.sin6_addr) == 1) {
        six.sin6_family = AF_INET6;
        six.sin6_port = htons(port);
        address = (struct sockaddr *)&six;
        length = sizeof six;
    } else {
        errno = EINVAL;
        return -1;
    }
    int made = cps_socket(address->sa_family, SOCK_STREAM, 0);
    if (made < 0) return -1;
    // Connections of a former process that are ending do not keep the next one from its address; a process that listens does.
    int on = 1;
    setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(made, address, length) == 0 && listen(made, 16) == 0 && fcntl(made, F_SETFL, O_NONBLOCK) == 0) return made;
    int code = errno;
    close(made);
    errno = code;
    return -1;
}

int cps_accept(int listener) {
#ifdef __linux__
    return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
#else
    int made = accept(listener, NULL, NULL);
    if (made < 0) return -1;
    fcntl(made, F_SETFD, FD_CLOEXEC);
    fcntl(made, F_SETFL, O_NONBLOCK);
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(made, SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    return made;
#endif
}

int cps_connected_streams(int ends[2]) {
#ifdef SOCK_CLOEXEC
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return -1;
#else
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) return -1;
    for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
#endif
#ifdef SO_NOSIGPIPE
    int on = 1;
    setsockopt(ends[0], SOL_SOCKET, SO_NOSIGPIPE, &on, sizeof on);
#endif
    if (fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0) return 0;
    int code = errno;
    close(ends[0]);
    close(ends[1]);
    errno = code;
    return -1;
}

long cps_send(int stream, const void *bytes, size_t length) {
#ifdef MSG_NOSIGNAL
    return send(stream, bytes, length, MSG_NOSIGNAL);
#else
    return send(stream, bytes, length, 0);
#endif
}

void cps_wipe(void *bytes, size_t length) {
    // memset through a volatile pointer: explicit_bzero is not available on every platform.
    static void *(*volatile const wipe)(void *, int, size_t) = memset;
    wipe(bytes, 0, length);
}
