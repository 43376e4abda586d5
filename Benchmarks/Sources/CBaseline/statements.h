// What the loops in C have in common, on either engine: include it after the engine's sqlite3.h.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(int condition, sqlite3 *db) {
    if (condition) return;
    fprintf(stderr, "baseline: %s\n", sqlite3_errmsg(db));
    exit(70);
}

static sqlite3_stmt *prepare(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = NULL;
    require(sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL) == SQLITE_OK, db);
    return statement;
}

// Not inlined, so that the compiler cannot drop an allocation that is freed at once.
static __attribute__((noinline)) unsigned char *copy(const void *bytes, int length) {
    unsigned char *result = malloc((size_t)length + 1);
    memcpy(result, bytes, (size_t)length);
    result[length] = 0;
    return result;
}
