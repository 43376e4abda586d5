// The C API of SQLCipher by itself, on an encrypted file: what LiteVault is compared with.
#ifndef LITEVAULT_CSQLCIPHER_BASELINE_H
#define LITEVAULT_CSQLCIPHER_BASELINE_H

#include <stdint.h>

struct sqlite3;

/// Opens an encrypted file with a raw key (64 digits) and 32 pages of cache, in WAL mode with `synchronous=NORMAL`.
struct sqlite3 *_Nonnull cipher_open(const char *_Nonnull path, const char *_Nonnull digits);

void cipher_close(struct sqlite3 *_Nonnull db);

/// Inserts rows of (integer, integer, real, text) with one statement, in transactions of 100 rows.
void cipher_insert(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count);

/// Sums 4 columns of all rows: two integers, a real, the length of a text that is copied.
int64_t cipher_fetch(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// The same for single rows, found by their key with one statement.
int64_t cipher_lookup(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count, int64_t rows);

#endif
