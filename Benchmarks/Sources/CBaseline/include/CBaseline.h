// What the C API costs by itself: the loops that every other implementation is compared with.
//
// No types are checked and no lock is taken (the connection is opened with SQLITE_OPEN_NOMUTEX). Any failure ends the
// process: a baseline that went wrong measures nothing.
#ifndef LITEVAULT_CBASELINE_H
#define LITEVAULT_CBASELINE_H

#include <sqlite3.h>  // for the loop that calls it from Swift, too
#include <stdint.h>

/// Makes malloc keep what is freed, so that no implementation pays for page faults that depend on how much the one before it freed.
void baseline_keep_memory(void);

/// A new database in memory, on which this SQL was run.
struct sqlite3 *_Nonnull baseline_open(const char *_Nonnull sql);

/// Runs SQL, and returns the first column of the first row if there is one.
int64_t baseline_execute(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Inserts rows of (integer, integer, real, text, integer or NULL) with one statement.
void baseline_insert(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count,
                     const char *_Nonnull const *_Nonnull texts, int64_t textCount);

/// The same; the engine makes no copies of the texts.
void baseline_insert_in_place(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count,
                              const char *_Nonnull const *_Nonnull texts, int64_t textCount);

/// Sums the columns of all rows: 7 integers, one of them NULL at times, 2 reals, 1 boolean.
int64_t baseline_fetch(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Looks rows of (integer, integer, real) up by their key with one statement.
int64_t baseline_lookup(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count, int64_t rows);

/// The same, with a statement that is prepared for each look-up.
int64_t baseline_lookup_preparing(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count, int64_t rows);

/// Copies 2 columns of text of each row to the heap.
int64_t baseline_text(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Copies 1 blob of each row to the heap.
int64_t baseline_blob(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Reads rows of (integer, text, text or NULL, integer, real, boolean) into an array of structs, texts copied.
int64_t baseline_people(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Reads rows of 10 numbers, as `baseline_fetch` does, into an array of structs.
int64_t baseline_wide(struct sqlite3 *_Nonnull db, const char *_Nonnull sql);

/// Looks persons up by their key with one statement, each into a struct, texts copied.
int64_t baseline_find_person(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int64_t count, int64_t rows);

/// Reads rows of (integer, text) into an array of structs, and rows of (integer, integer, text, integer or NULL) into an
/// array in the struct whose key is the second column. The second statement has no parameters, or one for each key.
int64_t baseline_authors(struct sqlite3 *_Nonnull db, const char *_Nonnull parents, const char *_Nonnull children);

#endif
