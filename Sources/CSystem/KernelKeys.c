#include "KernelKeys.h"

#include <errno.h>

#ifdef __linux__
#include <linux/keyctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static long result(long value) { return value < 0 ? -(long)errno : value; }

int32_t ckr_session_ring(void) { return KEY_SPEC_SESSION_KEYRING; }
int32_t ckr_user_ring(void) { return KEY_SPEC_USER_KEYRING; }

void ckr_link_user_ring(void) {
    // Without it the next call says that access is denied.
    (void)syscall(SYS_keyctl, KEYCTL_LINK, (long)KEY_SPEC_USER_KEYRING, (long)KEY_SPEC_SESSION_KEYRING, 0L, 0L);
}

long ckr_search(int32_t ring, const char *description) {
    return result(syscall(SYS_keyctl, KEYCTL_SEARCH, (long)ring, "user", description, 0L));
}

long ckr_read(long key, void *bytes, size_t length) {
    return result(syscall(SYS_keyctl, KEYCTL_READ, key, bytes, length, 0L));
}

long ckr_add(int32_t ring, const char *description, const void *bytes, size_t length) {
    return result(syscall(SYS_add_key, "user", description, bytes, length, (long)ring));
}

long ckr_unlink(long key, int32_t ring) {
    return result(syscall(SYS_keyctl, KEYCTL_UNLINK, key, (long)ring, 0L, 0L));
}

int32_t ckr_no_key(void) { return ENOKEY; }
int32_t ckr_key_expired(void) { return EKEYEXPIRED; }
int32_t ckr_key_revoked(void) { return EKEYREVOKED; }
#else
int32_t ckr_session_ring(void) { return -3; }
int32_t ckr_user_ring(void) { return -4; }
void ckr_link_user_ring(void) {}
long ckr_search(int32_t ring, const char *description) { return -(long)ENOSYS; }
long ckr_read(long key, void *bytes, size_t length) { return -(long)ENOSYS; }
long ckr_add(int32_t ring, const char *description, const void *bytes, size_t length) { return -(long)ENOSYS; }
long ckr_unlink(long key, int32_t ring) { return -(long)ENOSYS; }
int32_t ckr_no_key(void) { return -1; }
int32_t ckr_key_expired(void) { return -1; }
int32_t ckr_key_revoked(void) { return -1; }
#endif
