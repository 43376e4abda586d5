// What Swift cannot say to the engine itself: variadic C functions, functions that only newer engines have, and the
// functions that exist only where the engine encrypts. Every function here exists in every build.
//
// This header declares the engine's handles as opaque types and does not include sqlite3.h, so that it can be imported
// beside whichever engine module is active.
#ifndef LITEVAULT_ENGINE_SUPPORT_H
#define LITEVAULT_ENGINE_SUPPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_context;
struct sqlite3_value;

// MARK: Which engine

/// The version of the header this was compiled against, as in `SQLITE_VERSION_NUMBER` (3046001 is 3.46.1).
int lv_header_version_number(void);

/// 1 when compiled with the package trait `SQLCipher`.
bool lv_compiled_for_sqlcipher(void);

/// 1 when `sqlite3_open_v2` and `sqlite3_key_v2` come from the same loaded library.
///
/// With libsqlite3 linked before libsqlcipher they do not, and `sqlite3_key` then crashes on a handle of the other
/// library. Always 0 in a build without SQLCipher.
bool lv_key_and_open_share_a_library(void);

// MARK: Functions of newer engines. Each says through its result when the engine lacks it.

/// `sqlite3_prepare_v3` with `SQLITE_PREPARE_PERSISTENT` (3.20), else `sqlite3_prepare_v2`.
int lv_prepare(struct sqlite3 *_Nonnull db, const char *_Nonnull sql, int length, bool persistent,
               struct sqlite3_stmt *_Nullable *_Nonnull statement, const char *_Nullable *_Nullable tail);

/// `sqlite3_changes64` (3.37), else `sqlite3_changes`.
int64_t lv_changes(struct sqlite3 *_Nonnull db);

/// `sqlite3_total_changes64` (3.37), else `sqlite3_total_changes`.
int64_t lv_total_changes(struct sqlite3 *_Nonnull db);

/// `sqlite3_error_offset` (3.38): byte offset of the token that an error is about; -1 when unknown.
int lv_error_offset(struct sqlite3 *_Nonnull db);

/// `sqlite3_db_config` for the options that take an int and report an int. `SQLITE_ERROR` for an unknown option.
int lv_db_config(struct sqlite3 *_Nonnull db, int option, int value, int *_Nullable result);

/// `sqlite3_drop_modules` (3.30) for all modules: those of virtual tables are unknown to the connection after it. Nothing on older
/// engines.
void lv_drop_modules(struct sqlite3 *_Nonnull db);

/// How often the statement was prepared again because the schema changed (3.20); -1 when the engine does not count.
int lv_reprepare_count(struct sqlite3_stmt *_Nonnull statement);

typedef void (*lv_step_function)(struct sqlite3_context *_Nonnull, int, struct sqlite3_value *_Nullable *_Nullable);
typedef void (*lv_final_function)(struct sqlite3_context *_Nonnull);
typedef void (*lv_destroy_function)(void *_Nullable);

/// `sqlite3_create_window_function` (3.25); -1 when the engine lacks it (nothing was registered, `destroy` not called).
int lv_create_window_function(struct sqlite3 *_Nonnull db, const char *_Nonnull name, int argumentCount, int flags,
                              void *_Nullable context, lv_step_function _Nonnull step,
                              lv_final_function _Nonnull final, lv_final_function _Nonnull value,
                              lv_step_function _Nonnull inverse, lv_destroy_function _Nonnull destroy);

// MARK: Rows

/// One value of a row. `type` is the storage class (`SQLITE_INTEGER` …), and `bits` holds an integer, the bits of a real
/// or the address of a text or a blob of `length` bytes.
struct lv_cell {
    int64_t bits;
    int32_t length;
    int32_t type;
};

/// Reads the columns of the current row. Texts and blobs stay where the engine has them, valid until the statement is
/// stepped, reset or finalized. Returns how many bytes they have together.
size_t lv_read_cells(struct sqlite3_stmt *_Nonnull statement, struct lv_cell *_Nonnull cells, int count);

/// Copies the texts and blobs of a row that was just read into memory of that size, and lets the cells point there.
void lv_copy_cells(struct lv_cell *_Nonnull cells, int count, void *_Nullable memory);

/// Reads a word that other threads may write at the same time. For guesses that are checked after they were read.
static inline uintptr_t lv_word_load(const uintptr_t *_Nonnull word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }

/// Writes a word that other threads may read at the same time.
static inline void lv_word_store(uintptr_t *_Nonnull word, uintptr_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/// Writes a word that is 0, unless another thread did first. Tells whether it was written.
static inline bool lv_word_claim(uintptr_t *_Nonnull word, uintptr_t value) {
    uintptr_t expected = 0;
    return __atomic_compare_exchange_n(word, &expected, value, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

// MARK: Encryption. LV_NO_ENCRYPTION from each when the build or the loaded library has none.

#define LV_NO_ENCRYPTION (-1)

/// `sqlite3_key_v2`.
int lv_key(struct sqlite3 *_Nonnull db, const char *_Nonnull schema, const void *_Nonnull key, int length);

/// `sqlite3_rekey_v2`.
int lv_rekey(struct sqlite3 *_Nonnull db, const char *_Nonnull schema, const void *_Nonnull key, int length);

// MARK: Sessions. LV_NO_SESSIONS where the engine was built without them; the calls on a session or an iterator need one.

#define LV_NO_SESSIONS (-1)

/// Whether the engine has the session extension (SQLITE_ENABLE_SESSION).
bool lv_has_sessions(void);

/// `sqlite3session_create`
int lv_session_create(struct sqlite3 *_Nonnull db, const char *_Nonnull schema, void *_Nullable *_Nonnull session);

/// `sqlite3session_delete`
void lv_session_delete(void *_Nonnull session);

/// `sqlite3session_attach`: a table, or all for NULL.
int lv_session_attach(void *_Nonnull session, const char *_Nullable table);

/// `sqlite3session_enable`
void lv_session_enable(void *_Nonnull session, bool enabled);

/// `sqlite3session_isempty`
bool lv_session_is_empty(void *_Nonnull session);

/// `sqlite3session_changeset` or `sqlite3session_patchset`. The bytes are freed with `sqlite3_free`, here and below.
int lv_session_changes(void *_Nonnull session, bool patchset, int *_Nonnull length, void *_Nullable *_Nonnull bytes);

/// `sqlite3changeset_invert`
int lv_changeset_invert(int length, const void *_Nullable bytes, int *_Nonnull resultLength,
                        void *_Nullable *_Nonnull result);

/// `sqlite3changeset_concat`
int lv_changeset_concat(int length, const void *_Nullable bytes, int otherLength, const void *_Nullable other,
                        int *_Nonnull resultLength, void *_Nullable *_Nonnull result);

/// `sqlite3changeset_start`
int lv_changeset_start(void *_Nullable *_Nonnull iterator, int length, const void *_Nullable bytes);

/// `sqlite3changeset_next`
int lv_changeset_next(void *_Nonnull iterator);

/// `sqlite3changeset_finalize`
int lv_changeset_finalize(void *_Nonnull iterator);

/// `sqlite3changeset_op`
int lv_changeset_operation(void *_Nonnull iterator, const char *_Nullable *_Nonnull table, int *_Nonnull columns,
                           int *_Nonnull operation);

/// Which row of a change a value is read from.
enum lv_change_side { LV_OLD, LV_NEW, LV_CONFLICTING };

/// A `sqlite3_value`, which is another structure's name before SQLite 3.19.
struct lv_value;

/// `sqlite3changeset_old`, `sqlite3changeset_new` or `sqlite3changeset_conflict`. The value is NULL where there is none.
int lv_changeset_value(void *_Nonnull iterator, enum lv_change_side side, int column,
                       struct lv_value *_Nullable *_Nonnull value);

/// `sqlite3changeset_apply`
int lv_changeset_apply(struct sqlite3 *_Nonnull db, int length, const void *_Nullable bytes,
                       int (*_Nullable filter)(void *_Nullable context, const char *_Nullable table),
                       int (*_Nonnull conflict)(void *_Nullable context, int kind, void *_Nullable iterator),
                       void *_Nullable context);

/// `sqlite3_load_extension`, for which it has to be enabled; LV_NO_SESSIONS where the engine cannot load extensions.
int lv_load_extension(struct sqlite3 *_Nonnull db, const char *_Nonnull file, const char *_Nullable entry,
                      char *_Nullable *_Nonnull message);

// MARK: A flag that another thread may raise

/// Reads a flag that is raised without the lock that protects what it announces. Sequentially consistent: a thread that
/// raises the flag and then finds the lock taken relies on the holder seeing the flag after it has released the lock.
static inline bool lv_flag_is_raised(const bool *_Nonnull flag) { return __atomic_load_n(flag, __ATOMIC_SEQ_CST); }

/// Raises or lowers the flag.
static inline void lv_flag_set(bool *_Nonnull flag, bool raised) { __atomic_store_n(flag, raised, __ATOMIC_SEQ_CST); }

// MARK: Bytes of a live database

/// Reads a 32-bit word of memory that other processes write (`-shm`), in the machine's byte order.
uint32_t lv_shared_load(const void *_Nonnull address);

/// Writes a 32-bit word of memory that other processes read.
void lv_shared_store(void *_Nonnull address, uint32_t value);

/// Continues the checksum of a write-ahead log over `length` bytes, a multiple of 8: two words in `sums`
/// (https://sqlite.org/fileformat2.html#checksum_algorithm). The log's magic number says in which byte order it reads.
void lv_wal_checksum(bool bigEndian, const void *_Nonnull bytes, size_t length, uint32_t *_Nonnull sums);

/// `f_type` of statfs(2): the kind of file system that a path is on. 0 where it is unknown, or not Linux.
uint32_t lv_file_system_type(const char *_Nonnull path);

// MARK: Files that cannot be written

/// Where the bytes of a database come from.
struct lv_byte_source {
    void *_Nullable context;
    /// Bytes that there are.
    int64_t size;
    /// Reads up to `count` bytes at `offset`; returns how many there were, -1 for an error.
    int (*_Nonnull read)(void *_Nullable context, void *_Nonnull buffer, int count, int64_t offset);
};

struct lv_read_only_files;

/// Registers a VFS of SQLite under which every database that is opened consists of the bytes of `source`, whatever its path
/// is, and nothing is ever written, created, locked or removed. NULL when there is no memory.
struct lv_read_only_files *_Nullable lv_read_only_files(const char *_Nonnull name, struct lv_byte_source source);

/// Removes the VFS. Every connection that used it must be closed.
void lv_read_only_files_end(struct lv_read_only_files *_Nonnull files);

// MARK: Statistics of bytes

/// Looks for bytes that are not evenly distributed in at most 4096 bytes: in each window of 512, then in all of them.
/// Windows of zeros do not count, nor a rest of less than 128 bytes. Returns where the window starts, 0 when only all of
/// them together show it, and -1 when nothing was found. Uniform bytes are found with a probability below 2^-76.
ptrdiff_t lv_find_structure(const void *_Nonnull bytes, size_t length);

/// What `lv_find_structure` compares with: how often the most frequent of `length` bytes may occur, or what the squares
/// of all counts may sum up to; from this number on the bytes are not uniform.
uint32_t lv_byte_limit(size_t length, bool squares);

// MARK: Comparing tables

/// A sum of hashes over some columns of each row, in any order of rows: equal for a table and each of its indexes.
struct lv_row_digest {
    /// The positions of the columns in the statement.
    const int32_t *_Nullable columns;
    int32_t count;
    uint64_t sum;
    int64_t rows;
};

/// How a comparison ended.
enum lv_comparison {
    LV_ROWS_EQUAL = 0,
    LV_ROWS_DIFFER,
    LV_ROWS_UNORDERED,
    LV_LEFT_FAILED,
    LV_RIGHT_FAILED,
    LV_CANCELLED
};

/// Called every 1024 rows with their number; a result other than 0 ends the work.
typedef int (*lv_progress)(void *_Nullable context, int64_t rows);

/// Steps two statements side by side to their ends or to the first difference in storage class or bytes, without copying a
/// value. Adds each row of the right one to the digests. `rows` counts on. If `areNumbered`, the first column has to increase.
/// After a failure `code` is that of the statement that failed.
enum lv_comparison lv_compare_rows(
    struct sqlite3_stmt *_Nonnull left, struct sqlite3_stmt *_Nonnull right, bool areNumbered,
    struct lv_row_digest *_Nullable digests, int digestCount, int64_t *_Nonnull rows, lv_progress _Nonnull progress,
    void *_Nullable context, int *_Nonnull code);

/// Adds every row of a statement to each digest. Returns what the last step returned: `SQLITE_DONE` at the end,
/// `SQLITE_INTERRUPT` when `progress` ended it.
int lv_digest_rows(struct sqlite3_stmt *_Nonnull statement, struct lv_row_digest *_Nullable digests, int digestCount,
                   lv_progress _Nonnull progress, void *_Nullable context);

/// What `litevault_digest` adds rows to.
struct lv_aggregate {
    /// Of all arguments: `columns` is not used.
    struct lv_row_digest digest;
    lv_progress _Nonnull progress;
    void *_Nullable context;
};

/// Defines the SQL aggregate `litevault_digest`, which adds its arguments as the columns of a row; without an aggregate, removes
/// it. Rows that the engine hands to a function cost it half of those that it returns.
int lv_define_digest(struct sqlite3 *_Nonnull connection, struct lv_aggregate *_Nullable aggregate);

/// Continues a hash over bytes that were copied, to compare them with the copy. Not for adversaries.
uint64_t lv_hash_bytes(uint64_t hash, const void *_Nullable bytes, size_t length);

// MARK: Digests

/// The digests that SQLCipher uses.
enum lv_digest { LV_SHA1 = 1, LV_SHA256 = 2, LV_SHA512 = 3 };

/// Whether a PBKDF2 and an HMAC are available: SQLCipher brings libcrypto into the process, and these functions find
/// it there. Nothing is linked for them.
bool lv_digests_available(void);

/// PBKDF2 (RFC 8018). False when no digest library is loaded.
bool lv_pbkdf2(enum lv_digest digest, const void *_Nonnull password, size_t passwordLength,
               const void *_Nonnull salt, size_t saltLength, uint32_t iterations,
               void *_Nonnull key, size_t keyLength);

struct lv_hmac;

/// An HMAC (RFC 2104) under a key, for any number of messages. NULL when no digest library is loaded.
struct lv_hmac *_Nullable lv_hmac_create(enum lv_digest digest, const void *_Nonnull key, size_t keyLength);

/// Wipes and frees it.
void lv_hmac_free(struct lv_hmac *_Nonnull hmac);

/// The HMAC of two consecutive pieces. Returns the number of bytes written to `output` (at most 64), 0 on failure.
size_t lv_hmac_of(struct lv_hmac *_Nonnull hmac, const void *_Nonnull first, size_t firstLength,
                  const void *_Nonnull second, size_t secondLength, void *_Nonnull output);

// MARK: Decryption

struct lv_decryption;

/// AES-256-CBC without padding, the cipher of SQLCipher's pages, under a key of 32 bytes. NULL when no library for it is
/// loaded.
struct lv_decryption *_Nullable lv_decryption_create(const void *_Nonnull key);

/// Wipes and frees it.
void lv_decryption_free(struct lv_decryption *_Nonnull decryption);

/// Decrypts `length` bytes, a multiple of 16, with an initialization vector of 16 bytes. False on failure.
bool lv_decrypt(struct lv_decryption *_Nonnull decryption, const void *_Nonnull vector, const void *_Nonnull bytes,
                size_t length, void *_Nonnull output);

#endif
