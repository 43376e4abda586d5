#include "CSQLCipherBaseline.h"

#include <sqlcipher/sqlite3.h>
#include "statements.h"

static void execute(sqlite3 *db, const char *sql) { require(sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK, db); }

sqlite3 *cipher_open(const char *path, const char *digits) {
    sqlite3 *db = NULL;
    char key[80];
    int length = snprintf(key, sizeof key, "x'%s'", digits);
    require(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK, db);
    require(sqlite3_key(db, key, length) == SQLITE_OK, db);
    execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = 32");
    return db;
}

void cipher_close(sqlite3 *db) { sqlite3_close(db); }

void cipher_insert(sqlite3 *db, const char *sql, int64_t count) {
    sqlite3_stmt *statement = prepare(db, sql);
    static char texts[64][48];
    for (int i = 0; i < 64; i++) snprintf(texts[i], sizeof texts[i], "a text of some length, %d", i);
    for (int64_t i = 0; i < count; i++) {
        const char *text = texts[i % 64];
        int length = (int)strlen(text);
        if (i % 100 == 0) execute(db, "BEGIN");
        sqlite3_bind_int64(statement, 1, i + 1);
        sqlite3_bind_int64(statement, 2, i * 7);
        sqlite3_bind_double(statement, 3, (double)i * 0.5);
        sqlite3_bind_text(statement, 4, text, length, SQLITE_TRANSIENT);
        require(sqlite3_step(statement) == SQLITE_DONE, db);
        sqlite3_reset(statement);
        if (i % 100 == 99) execute(db, "COMMIT");
    }
    if (count % 100) execute(db, "COMMIT");
    sqlite3_finalize(statement);
}

static int64_t sum(sqlite3_stmt *statement) {
    const unsigned char *text = sqlite3_column_text(statement, 3);
    int length = sqlite3_column_bytes(statement, 3);
    unsigned char *own = copy(text, length);
    int64_t result = sqlite3_column_int64(statement, 0) + sqlite3_column_int64(statement, 1) +
                     (int64_t)sqlite3_column_double(statement, 2) + length + own[0];
    free(own);
    return result;
}

int64_t cipher_fetch(sqlite3 *db, const char *sql) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t result = 0;
    int code;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW) result += sum(statement);
    require(code == SQLITE_DONE, db);
    sqlite3_finalize(statement);
    return result;
}

int64_t cipher_lookup(sqlite3 *db, const char *sql, int64_t count, int64_t rows) {
    sqlite3_stmt *statement = prepare(db, sql);
    int64_t result = 0;
    for (int64_t i = 0; i < count; i++) {
        sqlite3_bind_int64(statement, 1, i * 7919 % rows + 1);
        require(sqlite3_step(statement) == SQLITE_ROW, db);
        result += sum(statement);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return result;
}
