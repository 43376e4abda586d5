#ifndef C_FILE_SUPPORT_H
#define C_FILE_SUPPORT_H

#include <stddef.h>

// The system calls that Swift's C library module does not show: GNU extensions and variadic commands.
// Each returns 0 or a non-negative answer, or -1 with errno set. Where a platform lacks one, errno is ENOTSUP.

/// rename that fails with EEXIST instead of replacing: renameat2(RENAME_NOREPLACE), renameatx_np(RENAME_EXCL).
int cfs_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to);

/// Opens a directory in another one, or in the working directory (AT_FDCWD). A link is not followed unless `follows`: the call fails as for
/// another file that is not a directory. With `only_lookup` the descriptor is for calls with names alone (O_PATH, O_SEARCH), and needs no
/// right to read the directory.
int cfs_open_directory(int directory, const char *name, int follows, int only_lookup);

/// Down to the medium: F_FULLFSYNC where there is one, else fsync.
int cfs_sync(int descriptor);

/// Lets the system begin to write a part of the file to the medium: sync_file_range(SYNC_FILE_RANGE_WRITE). Nothing is durable by it.
int cfs_start_writing(int descriptor, long long offset, long long count);

/// 1 if the file system is known to be used by this machine's kernel alone (so that flock sees every user), else 0.
int cfs_is_local(int descriptor);

/// Takes a write lease; breaking it sends a signal that is ignored by default instead of SIGIO, which kills.
int cfs_lease_take(int descriptor);

/// 1 while the write lease is whole, 0 when it is gone or being broken.
int cfs_lease_is_whole(int descriptor);

int cfs_lease_release(int descriptor);

/// Reads the access control list of a file, which is not opened: the attribute system.posix_acl_access. The number of its bytes.
int cfs_acl_read(const char *path, void *bytes, size_t length);

int cfs_acl_write(int descriptor, const void *bytes, size_t length);

int cfs_acl_remove(int descriptor);

#endif
