// SQLCipher. With SQLITE_HAS_CODEC its header declares sqlite3_key and its relatives.
#ifndef LITEVAULT_CSQLCIPHER_SHIM_H
#define LITEVAULT_CSQLCIPHER_SHIM_H

#define SQLITE_HAS_CODEC 1
#include <sqlite3.h>

// pkg-config did not find SQLCipher and the header is plain SQLite's: linking SQLCipher against it would compile,
// and encryption would be missing without a word. Taking the address makes that a compile error.
__attribute__((unused)) static int (*const litevault_requires_sqlcipher_headers)(
    sqlite3 *, const char *, const void *, int) = sqlite3_key_v2;

#endif
