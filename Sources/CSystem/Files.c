#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#include "Files.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#elif defined(__APPLE__)
#include <sys/mount.h>
#include <sys/param.h>
#endif

static int not_supported(void) {
    errno = ENOTSUP;
    return -1;
}

int cfs_open_directory(int directory, const char *name, int follows, int only_lookup) {
    int flags = O_DIRECTORY | O_CLOEXEC | (follows ? 0 : O_NOFOLLOW);
#if defined(O_PATH)
    flags |= only_lookup ? O_PATH : O_RDONLY;
#elif defined(O_SEARCH)
    flags |= only_lookup ? O_SEARCH : O_RDONLY;
#else
    (void)only_lookup;
    flags |= O_RDONLY;
#endif
    int descriptor;
    do descriptor = openat(directory, name, flags);
    while (descriptor < 0 && errno == EINTR);
    return descriptor;
}

int cfs_rename_exclusive(int from_directory, const char *from, int to_directory, const char *to) {
#if defined(__linux__) && defined(SYS_renameat2)
    // The call itself, not the library's wrapper, which old C libraries lack. 1 is RENAME_NOREPLACE.
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, 1u);
#elif defined(__APPLE__)
    return renameatx_np(from_directory, from, to_directory, to, RENAME_EXCL);
#else
    (void)from_directory, (void)from, (void)to_directory, (void)to;
    return not_supported();
#endif
}

int cfs_sync(int descriptor) {
#if defined(F_FULLFSYNC)
    // Some file systems have no F_FULLFSYNC; fsync is the best they offer.
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
#endif
    return fsync(descriptor);
}

int cfs_start_writing(int descriptor, long long offset, long long count) {
#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE)
    return sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
#else
    (void)descriptor, (void)offset, (void)count;
    return not_supported();
#endif
}

int cfs_is_local(int descriptor) {
#if defined(__linux__)
    struct statfs information;
    if (fstatfs(descriptor, &information) != 0) return 0;
    switch ((unsigned long)information.f_type & 0xFFFFFFFFul) {
        case 0x0000EF53ul:  // ext2, ext3, ext4
        case 0x58465342ul:  // xfs
        case 0x9123683Eul:  // btrfs
        case 0xF2F52010ul:  // f2fs
        case 0xCA451A4Eul:  // bcachefs
        case 0x2FC12FC1ul:  // zfs
        case 0x01021994ul:  // tmpfs
        case 0x858458F6ul:  // ramfs
        case 0x794C7630ul:  // overlayfs
        case 0x00004D44ul:  // vfat
        case 0x2011BAB0ul:  // exfat
            return 1;
        default:
            return 0;
    }
#elif defined(__APPLE__)
    struct statfs information;
    if (fstatfs(descriptor, &information) != 0) return 0;
    return (information.f_flags & MNT_LOCAL) != 0;
#else
    (void)descriptor;
    return 0;
#endif
}

int cfs_lease_take(int descriptor) {
#if defined(__linux__)
    if (fcntl(descriptor, F_SETSIG, SIGURG) != 0) return -1;
    return fcntl(descriptor, F_SETLEASE, F_WRLCK);
#else
    (void)descriptor;
    return not_supported();
#endif
}

int cfs_lease_is_whole(int descriptor) {
#if defined(__linux__)
    int lease = fcntl(descriptor, F_GETLEASE);
    return lease < 0 ? -1 : lease == F_WRLCK;
#else
    (void)descriptor;
    return not_supported();
#endif
}

int cfs_lease_release(int descriptor) {
#if defined(__linux__)
    int result = fcntl(descriptor, F_SETLEASE, F_UNLCK);
    int saved = errno;
    fcntl(descriptor, F_SETSIG, 0);
    errno = saved;
    return result;
#else
    (void)descriptor;
    return not_supported();
#endif
}

#if defined(__linux__)
static const char access_list[] = "system.posix_acl_access";
#endif

int cfs_acl_read(const char *path, void *bytes, size_t length) {
#if defined(__linux__)
    return (int)lgetxattr(path, access_list, bytes, length);
#else
    (void)path, (void)bytes, (void)length;
    return not_supported();
#endif
}

int cfs_acl_write(int descriptor, const void *bytes, size_t length) {
#if defined(__linux__)
    return fsetxattr(descriptor, access_list, bytes, length, 0);
#else
    (void)descriptor, (void)bytes, (void)length;
    return not_supported();
#endif
}

int cfs_acl_remove(int descriptor) {
#if defined(__linux__)
    return fremovexattr(descriptor, access_list);
#else
    (void)descriptor;
    return not_supported();
#endif
}
