// SQLite without encryption.
#ifndef LITEVAULT_CSQLITE3_SHIM_H
#define LITEVAULT_CSQLITE3_SHIM_H

#include <sqlite3.h>

#endif
