// Functions that only some builds of the engine, or of what comes with it, have. For the C files of this target alone.
#ifndef LITEVAULT_ENGINE_LIBRARY_H
#define LITEVAULT_ENGINE_LIBRARY_H

#include "EngineHeader.h"

#include <dlfcn.h>
#include <stdbool.h>

// A function of a newer engine is declared even where the header is too old for it, and weakly, so that a library without
// it leaves a null pointer behind instead of a link or load error.
#if defined(__APPLE__)
#define LV_OPTIONAL __attribute__((weak_import))
#else
#define LV_OPTIONAL __attribute__((weak))
#endif

// A weak reference is bound to whichever loaded library has the function: with libsqlite3 linked second, one that an old
// libsqlcipher lacks would be libsqlite3's, called with a handle that is not its own.
static inline bool lv_is_of_the_engine(const void *function) {
    Dl_info engine, other;
    if (!function) return false;
    // Without information (a fully static program) there is one library only.
    if (!dladdr((void *)&sqlite3_open_v2, &engine) || !dladdr(function, &other)) return true;
    return engine.dli_fbase == other.dli_fbase;
}

// Whether the engine has a function; looked up once.
#define LV_HAS(function)                                                        \
    ({                                                                          \
        static int known = -1;                                                  \
        int has = __atomic_load_n(&known, __ATOMIC_RELAXED);                    \
        if (has < 0) {                                                          \
            has = lv_is_of_the_engine((const void *)&function);                 \
            __atomic_store_n(&known, has, __ATOMIC_RELAXED);                    \
        }                                                                       \
        has != 0;                                                               \
    })

// A function of libcrypto. Weak references first: a self-contained program hides the symbols of its static libraries, so dlsym finds
// nothing there. dlsym second: a weak reference is null where libcrypto is not linked directly, but comes with the engine.
#define LV_FIND(function) ((__typeof__(function) *)(function ? (void *)&function : dlsym(RTLD_DEFAULT, #function)))

#endif
