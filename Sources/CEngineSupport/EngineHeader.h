// The engine's header, for the C files of this target alone.
#ifndef LITEVAULT_ENGINE_HEADER_H
#define LITEVAULT_ENGINE_HEADER_H

#ifdef ENGINE_SQLCIPHER
#define SQLITE_HAS_CODEC 1
#endif
#ifdef ENGINE_SQLCIPHER_PACKAGE
// A framework has its headers under its name.
#include <SQLCipher/sqlite3.h>
#else
#include <sqlite3.h>
#endif

#endif
