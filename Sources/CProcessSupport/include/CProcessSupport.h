// What the tool asks of the system about its own process and Swift cannot say: a variadic system call.
#ifndef LITEVAULT_PROCESS_SUPPORT_H
#define LITEVAULT_PROCESS_SUPPORT_H

/// Makes the process write no core dump, and keeps others of the same user from attaching to it or reading its memory
/// and environment (`RLIMIT_CORE`; on Linux also `PR_SET_DUMPABLE`). Best effort: the result does not tell.
void cps_forbid_dumps(void);

#endif
