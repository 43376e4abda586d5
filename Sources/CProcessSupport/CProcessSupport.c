#include "CProcessSupport.h"

#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
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

void cps_wipe(void *bytes, size_t length) {
    // memset through a volatile pointer: explicit_bzero is not available on every platform.
    static void *(*volatile const wipe)(void *, int, size_t) = memset;
    wipe(bytes, 0, length);
}
