#include "CProcessSupport.h"

#include <sys/resource.h>
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
