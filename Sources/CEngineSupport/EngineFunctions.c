#define _GNU_SOURCE
#include "CEngineSupport.h"

#include "EngineLibrary.h"

extern int sqlite3_prepare_v3(sqlite3 *, const char *, int, unsigned int, sqlite3_stmt **, const char **) LV_OPTIONAL;
extern sqlite3_int64 sqlite3_changes64(sqlite3 *) LV_OPTIONAL;
extern sqlite3_int64 sqlite3_total_changes64(sqlite3 *) LV_OPTIONAL;
extern int sqlite3_error_offset(sqlite3 *) LV_OPTIONAL;
extern int sqlite3_drop_modules(sqlite3 *, const char **) LV_OPTIONAL;
extern int sqlite3_create_window_function(
    sqlite3 *, const char *, int, int, void *, void (*)(sqlite3_context *, int, sqlite3_value **),
    void (*)(sqlite3_context *), void (*)(sqlite3_context *),
    void (*)(sqlite3_context *, int, sqlite3_value **), void (*)(void *)) LV_OPTIONAL;

#define LV_PREPARE_PERSISTENT 0x01
#define LV_STMTSTATUS_REPREPARE 5

int lv_header_version_number(void) { return SQLITE_VERSION_NUMBER; }

bool lv_compiled_for_sqlcipher(void) {
#ifdef ENGINE_SQLCIPHER
    return true;
#else
    return false;
#endif
}

bool lv_key_and_open_share_a_library(void) {
#ifdef ENGINE_SQLCIPHER
    Dl_info open, key;
    if (!dladdr((void *)&sqlite3_open_v2, &open) || !dladdr((void *)&sqlite3_key_v2, &key)) return false;
    return open.dli_fbase == key.dli_fbase;
#else
    return false;
#endif
}

int lv_prepare(sqlite3 *db, const char *sql, int length, bool persistent, sqlite3_stmt **statement,
               const char **tail) {
    if (persistent && LV_HAS(sqlite3_prepare_v3)) {
        return sqlite3_prepare_v3(db, sql, length, LV_PREPARE_PERSISTENT, statement, tail);
    }
    return sqlite3_prepare_v2(db, sql, length, statement, tail);
}

int64_t lv_changes(sqlite3 *db) {
    return LV_HAS(sqlite3_changes64) ? sqlite3_changes64(db) : (int64_t)sqlite3_changes(db);
}

int64_t lv_total_changes(sqlite3 *db) {
    return LV_HAS(sqlite3_total_changes64) ? sqlite3_total_changes64(db) : (int64_t)sqlite3_total_changes(db);
}

int lv_error_offset(sqlite3 *db) { return LV_HAS(sqlite3_error_offset) ? sqlite3_error_offset(db) : -1; }

int lv_db_config(sqlite3 *db, int option, int value, int *result) {
    return sqlite3_db_config(db, option, value, result);
}

void lv_drop_modules(sqlite3 *db) {
    if (LV_HAS(sqlite3_drop_modules)) sqlite3_drop_modules(db, NULL);
}

int lv_reprepare_count(sqlite3_stmt *statement) {
    if (sqlite3_libversion_number() < 3020000) return -1;
    return sqlite3_stmt_status(statement, LV_STMTSTATUS_REPREPARE, 0);
}

int lv_create_window_function(sqlite3 *db, const char *name, int argumentCount, int flags, void *context,
                              lv_step_function step, lv_final_function final, lv_final_function value,
                              lv_step_function inverse, lv_destroy_function destroy) {
    if (!LV_HAS(sqlite3_create_window_function)) return -1;
    // Old headers call the same struct by another name (`struct Mem`).
    typedef void (*engine_step)(sqlite3_context *, int, sqlite3_value **);
    return sqlite3_create_window_function(db, name, argumentCount, flags, context, (engine_step)step, final, value,
                                          (engine_step)inverse, destroy);
}

int lv_key(sqlite3 *db, const char *schema, const void *key, int length) {
#ifdef ENGINE_SQLCIPHER
    return sqlite3_key_v2(db, schema, key, length);
#else
    return LV_NO_ENCRYPTION;
#endif
}

int lv_rekey(sqlite3 *db, const char *schema, const void *key, int length) {
#ifdef ENGINE_SQLCIPHER
    return sqlite3_rekey_v2(db, schema, key, length);
#else
    return LV_NO_ENCRYPTION;
#endif
}
