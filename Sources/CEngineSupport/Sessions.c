#define _GNU_SOURCE
#include "CEngineSupport.h"

// The types below are those of a header with or without it.
#undef SQLITE_ENABLE_SESSION
#include "EngineLibrary.h"

// Declared here even where the header was made without SQLITE_ENABLE_SESSION: see EngineFunctions.c.

extern int sqlite3session_create(sqlite3 *, const char *, void **) LV_OPTIONAL;
extern void sqlite3session_delete(void *) LV_OPTIONAL;
extern int sqlite3session_attach(void *, const char *) LV_OPTIONAL;
extern int sqlite3session_enable(void *, int) LV_OPTIONAL;
extern int sqlite3session_isempty(void *) LV_OPTIONAL;
extern int sqlite3session_changeset(void *, int *, void **) LV_OPTIONAL;
extern int sqlite3session_patchset(void *, int *, void **) LV_OPTIONAL;
extern int sqlite3changeset_invert(int, const void *, int *, void **) LV_OPTIONAL;
extern int sqlite3changeset_concat(int, void *, int, void *, int *, void **) LV_OPTIONAL;
extern int sqlite3changeset_start(void **, int, void *) LV_OPTIONAL;
extern int sqlite3changeset_next(void *) LV_OPTIONAL;
extern int sqlite3changeset_op(void *, const char **, int *, int *, int *) LV_OPTIONAL;
extern int sqlite3changeset_old(void *, int, sqlite3_value **) LV_OPTIONAL;
extern int sqlite3changeset_new(void *, int, sqlite3_value **) LV_OPTIONAL;
extern int sqlite3changeset_conflict(void *, int, sqlite3_value **) LV_OPTIONAL;
extern int sqlite3changeset_finalize(void *) LV_OPTIONAL;
extern int sqlite3changeset_apply(sqlite3 *, int, void *, int (*)(void *, const char *), int (*)(void *, int, void *),
                                  void *) LV_OPTIONAL;
extern int sqlite3_load_extension(sqlite3 *, const char *, const char *, char **) LV_OPTIONAL;

bool lv_has_sessions(void) { return LV_HAS(sqlite3session_create) && LV_HAS(sqlite3changeset_apply); }

int lv_session_create(sqlite3 *db, const char *schema, void **session) {
    return lv_has_sessions() ? sqlite3session_create(db, schema, session) : LV_NO_SESSIONS;
}

void lv_session_delete(void *session) { sqlite3session_delete(session); }

int lv_session_attach(void *session, const char *table) { return sqlite3session_attach(session, table); }

void lv_session_enable(void *session, bool enabled) { sqlite3session_enable(session, enabled); }

bool lv_session_is_empty(void *session) { return sqlite3session_isempty(session) != 0; }

int lv_session_changes(void *session, bool patchset, int *length, void **bytes) {
    return patchset ? sqlite3session_patchset(session, length, bytes) : sqlite3session_changeset(session, length, bytes);
}

int lv_changeset_invert(int length, const void *bytes, int *resultLength, void **result) {
    return lv_has_sessions() ? sqlite3changeset_invert(length, bytes, resultLength, result) : LV_NO_SESSIONS;
}

int lv_changeset_concat(int length, const void *bytes, int otherLength, const void *other, int *resultLength,
                        void **result) {
    if (!lv_has_sessions()) return LV_NO_SESSIONS;
    return sqlite3changeset_concat(length, (void *)bytes, otherLength, (void *)other, resultLength, result);
}

int lv_changeset_start(void **iterator, int length, const void *bytes) {
    return lv_has_sessions() ? sqlite3changeset_start(iterator, length, (void *)bytes) : LV_NO_SESSIONS;
}

int lv_changeset_next(void *iterator) { return sqlite3changeset_next(iterator); }

int lv_changeset_finalize(void *iterator) { return sqlite3changeset_finalize(iterator); }

int lv_changeset_operation(void *iterator, const char **table, int *columns, int *operation) {
    int indirect;
    return sqlite3changeset_op(iterator, table, columns, operation, &indirect);
}

int lv_changeset_value(void *iterator, enum lv_change_side side, int column, struct lv_value **value) {
    sqlite3_value **found = (sqlite3_value **)value;
    switch (side) {
    case LV_OLD: return sqlite3changeset_old(iterator, column, found);
    case LV_NEW: return sqlite3changeset_new(iterator, column, found);
    default: return sqlite3changeset_conflict(iterator, column, found);
    }
}

int lv_changeset_apply(sqlite3 *db, int length, const void *bytes, int (*filter)(void *, const char *),
                       int (*conflict)(void *, int, void *), void *context) {
    if (!lv_has_sessions()) return LV_NO_SESSIONS;
    return sqlite3changeset_apply(db, length, (void *)bytes, filter, conflict, context);
}

int lv_load_extension(sqlite3 *db, const char *file, const char *entry, char **message) {
    return LV_HAS(sqlite3_load_extension) ? sqlite3_load_extension(db, file, entry, message) : LV_NO_SESSIONS;
}
