// What Swift cannot say: variadic system calls, signal handlers, flags that each system's headers declare in their own way, and a write that
// the optimizer keeps.
#ifndef LITEVAULT_PROCESS_SUPPORT_H
#define LITEVAULT_PROCESS_SUPPORT_H

#include <stddef.h>

/// Makes the process write no core dump, and keeps others of the same user from attaching to it or reading its memory
/// and environment (`RLIMIT_CORE`; on Linux also `PR_SET_DUMPABLE`). Best effort: the result does not tell.
void cps_forbid_dumps(void);

/// Gives the signals of a crash their default action, in place of the handlers that Swift's runtime installed before
/// `main`: these start a program that prints the memory at each register.
void cps_forbid_backtraces(void);

/// Has every block of a megabyte or more returned to the system as soon as it is freed (`mallopt`, glibc). The allocator otherwise
/// keeps such blocks for each of its threads: a restore, which reads objects of 8 MB, took from 76 to 128 MB.
void cps_return_large_blocks(void);

/// Raises the soft limit of open files (`RLIMIT_NOFILE`) to `count`, or to the hard limit if that is lower. A higher one stays. Best effort.
void cps_raise_file_limit(unsigned count);

/// Makes a pipe, both ends closed in programs that are started: on Linux from the first moment, as other threads may be starting some.
///
/// Returns 0, or -1 with `errno` set.
int cps_pipe(int ends[_Nonnull 2]);

/// Makes a socket that is closed in programs that are started.
///
/// Returns its descriptor, or -1 with `errno` set.
int cps_socket(int family, int type, int protocol);

/// Listens for connections at a port of an address that is given as digits, `127.0.0.1` or `::1`. The socket does not block, and is closed in
/// programs that are started.
///
/// Returns its descriptor, or -1 with `errno` set: `EINVAL` for another text, `EADDRINUSE` while another process listens there.
int cps_listen(const char *_Nonnull host, unsigned short port);

/// Accepts a connection to a listening socket, closed in programs that are started. It does not block.
///
/// Returns its descriptor, or -1 with `errno` set.
int cps_accept(int listener);

/// Makes two connected streams, both closed in programs that are started. The first, for this process, does not block.
///
/// Returns 0, or -1 with `errno` set.
int cps_connected_streams(int ends[_Nonnull 2]);

/// Sends what fits into a stream of `cps_connected_streams` or `cps_accept`, without a signal if the other end is closed.
///
/// Returns the number of bytes, or -1 with `errno` set.
long cps_send(int stream, const void *_Nonnull bytes, size_t length);

/// Overwrites memory in a way that the optimizer may not remove.
void cps_wipe(void *_Nonnull bytes, size_t length);

#endif
