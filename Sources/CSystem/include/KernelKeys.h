// The system calls of the Linux kernel's keyrings, for which the C library has no functions.
#ifndef LITEVAULT_KEYRING_SUPPORT_H
#define LITEVAULT_KEYRING_SUPPORT_H

#include <stddef.h>
#include <stdint.h>

/// The special numbers of keyrings.
int32_t ckr_session_ring(void);
int32_t ckr_user_ring(void);

/// Makes the keys of the user's keyring readable by way of the session's, which the kernel requires (KEYCTL_LINK).
void ckr_link_user_ring(void);

/// Finds a key of type "user" in a keyring (KEYCTL_SEARCH). Its number, or a negated errno.
long ckr_search(int32_t ring, const char *_Nonnull description);

/// Reads a key (KEYCTL_READ). Its length, or a negated errno. Nothing is written beyond `length`.
long ckr_read(long key, void *_Nullable bytes, size_t length);

/// Adds a key of type "user", or replaces its content (add_key). Its number, or a negated errno.
long ckr_add(int32_t ring, const char *_Nonnull description, const void *_Nullable bytes, size_t length);

/// Removes a key from a keyring (KEYCTL_UNLINK). 0, or a negated errno.
long ckr_unlink(long key, int32_t ring);

/// The error numbers that only Linux has; elsewhere numbers that never occur.
int32_t ckr_no_key(void);
int32_t ckr_key_expired(void);
int32_t ckr_key_revoked(void);

#endif
