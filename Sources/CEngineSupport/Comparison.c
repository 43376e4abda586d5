#include "CEngineSupport.h"

#include "EngineHeader.h"

#include <stdlib.h>
#include <string.h>

// The steps of wyhash (public domain): a product of 128 bits, folded. Not for adversaries; the pages have codes for those.
static uint64_t mix(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t add_bytes(uint64_t hash, const unsigned char *bytes, size_t length) {
    uint64_t word;
    hash = mix(hash ^ 0xa0761d6478bd642full, (uint64_t)length ^ 0xe7037ed1a0b428dbull);
    for (; length >= 8; bytes += 8, length -= 8) {
        memcpy(&word, bytes, 8);
        hash = mix(hash ^ 0x8ebc6af09c88c6e3ull, word ^ 0x589965cc75374cc3ull);
    }
    word = 0;
    if (length > 0) memcpy(&word, bytes, length);
    return mix(hash ^ 0x1d8e4e27c47d124full, word ^ 0xeb44accab455d165ull);
}

static uint64_t hash_of_number(uint64_t type, int64_t number) {
    return mix(type * 0x9e3779b97f4a7c15ull, (uint64_t)number ^ 0x2d358dccaa6c78a5ull);
}

// An index keeps a whole number of a REAL column as a real, its table as an integer: both count as the integer.
static uint64_t hash_of_value(sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    switch (type) {
    case SQLITE_INTEGER: return hash_of_number(SQLITE_INTEGER, sqlite3_value_int64(value));
    case SQLITE_FLOAT: {
        double number = sqlite3_value_double(value);
        if (number > -9007199254740992.0 && number < 9007199254740992.0 && (double)(int64_t)number == number)
            return hash_of_number(SQLITE_INTEGER, (int64_t)number);
        int64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return hash_of_number(SQLITE_FLOAT, bits);
    }
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
        // As a blob, a text keeps the encoding of its database; the length is right only after that call.
        const void *bytes = sqlite3_value_blob(value);
        int length = sqlite3_value_bytes(value);
        return add_bytes((uint64_t)type, bytes, bytes ? (size_t)length : 0);
    }
    default: return hash_of_number(SQLITE_NULL, 0);
    }
}

static const uint64_t empty_row = 0x60bee2bee120fc15ull;

static uint64_t add_hash(uint64_t row, uint64_t value) { return mix(row ^ 0x1d8e4e27c47d124full, value ^ 0xeb44accab455d165ull); }

// The values of the current row that digests need. Each is hashed once, however many indexes it is in.
struct row_hashes {
    bool *isNeeded;
    uint64_t *hashes;
};

static bool row_hashes_init(struct row_hashes *row, int count, const struct lv_row_digest *digests, int digestCount) {
    row->isNeeded = calloc((size_t)count + 1, sizeof *row->isNeeded);
    row->hashes = calloc((size_t)count + 1, sizeof *row->hashes);
    if (!row->isNeeded || !row->hashes) return false;
    for (int index = 0; index < digestCount; index++)
        for (int column = 0; column < digests[index].count; column++) row->isNeeded[digests[index].columns[column]] = true;
    return true;
}

static void row_hashes_free(struct row_hashes *row) {
    free(row->isNeeded);
    free(row->hashes);
}

static void add_row(const struct row_hashes *row, struct lv_row_digest *digests, int digestCount) {
    for (int index = 0; index < digestCount; index++) {
        uint64_t hash = empty_row;
        for (int column = 0; column < digests[index].count; column++)
            hash = add_hash(hash, row->hashes[digests[index].columns[column]]);
        digests[index].sum += hash;
        digests[index].rows++;
    }
}

static bool are_equal(sqlite3_value *left, sqlite3_value *right) {
    int type = sqlite3_value_type(left);
    if (type != sqlite3_value_type(right)) return false;
    switch (type) {
    case SQLITE_INTEGER: return sqlite3_value_int64(left) == sqlite3_value_int64(right);
    case SQLITE_FLOAT: {
        double one = sqlite3_value_double(left), other = sqlite3_value_double(right);
        return memcmp(&one, &other, sizeof one) == 0;
    }
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
        const void *one = sqlite3_value_blob(left), *other = sqlite3_value_blob(right);
        int length = sqlite3_value_bytes(left);
        if (length != sqlite3_value_bytes(right)) return false;
        // Null for an empty value, and where there was no memory.
        return length == 0 || (one && other && memcmp(one, other, (size_t)length) == 0);
    }
    default: return true;
    }
}

static enum lv_comparison compare_rows(
    sqlite3_stmt *left, sqlite3_stmt *right, int count, bool areNumbered, struct row_hashes *row, struct lv_row_digest *digests,
    int digestCount, int64_t *rows, lv_progress progress, void *context, int *code) {
    int64_t last = 0;
    bool isFirst = true;
    for (;;) {
        *code = sqlite3_step(left);
        if (*code != SQLITE_ROW && *code != SQLITE_DONE) return LV_LEFT_FAILED;
        bool isDone = *code == SQLITE_DONE;
        *code = sqlite3_step(right);
        if (*code != SQLITE_ROW && *code != SQLITE_DONE) return LV_RIGHT_FAILED;
        if (isDone != (*code == SQLITE_DONE)) return LV_ROWS_DIFFER;
        if (isDone) return LV_ROWS_EQUAL;
        for (int index = 0; index < count; index++) {
            sqlite3_value *value = sqlite3_column_value(right, index);
            if (!are_equal(sqlite3_column_value(left, index), value)) return LV_ROWS_DIFFER;
            if (row->isNeeded[index]) row->hashes[index] = hash_of_value(value);
        }
        if (areNumbered) {
            int64_t number = sqlite3_column_int64(right, 0);
            if (!isFirst && number <= last) return LV_ROWS_UNORDERED;
            last = number;
            isFirst = false;
        }
        add_row(row, digests, digestCount);
        if (++*rows % 1024 == 0 && progress(context, *rows) != 0) return LV_CANCELLED;
    }
}

enum lv_comparison lv_compare_rows(
    sqlite3_stmt *left, sqlite3_stmt *right, bool areNumbered, struct lv_row_digest *digests, int digestCount,
    int64_t *rows, lv_progress progress, void *context, int *code) {
    int count = sqlite3_column_count(left);
    if (count != sqlite3_column_count(right)) return LV_ROWS_DIFFER;
    struct row_hashes row;
    enum lv_comparison result = LV_RIGHT_FAILED;
    *code = SQLITE_NOMEM;
    if (row_hashes_init(&row, count, digests, digestCount))
        result = compare_rows(left, right, count, areNumbered, &row, digests, digestCount, rows, progress, context, code);
    row_hashes_free(&row);
    return result;
}

int lv_digest_rows(sqlite3_stmt *statement, struct lv_row_digest *digests, int digestCount, lv_progress progress, void *context) {
    int count = sqlite3_column_count(statement), code = SQLITE_NOMEM;
    struct row_hashes row;
    if (row_hashes_init(&row, count, digests, digestCount)) {
        for (int64_t rows = 1; (code = sqlite3_step(statement)) == SQLITE_ROW; rows++) {
            for (int index = 0; index < count; index++)
                if (row.isNeeded[index]) row.hashes[index] = hash_of_value(sqlite3_column_value(statement, index));
            add_row(&row, digests, digestCount);
            if (rows % 1024 == 0 && progress(context, rows) != 0) {
                code = SQLITE_INTERRUPT;
                break;
            }
        }
    }
    row_hashes_free(&row);
    return code;
}

static void digest_step(sqlite3_context *context, int count, sqlite3_value **values) {
    struct lv_aggregate *aggregate = sqlite3_user_data(context);
    uint64_t hash = empty_row;
    for (int index = 0; index < count; index++) hash = add_hash(hash, hash_of_value(values[index]));
    aggregate->digest.sum += hash;
    if (++aggregate->digest.rows % 1024 == 0 && aggregate->progress(aggregate->context, aggregate->digest.rows) != 0)
        sqlite3_result_error_code(context, SQLITE_INTERRUPT);
}

static void digest_final(sqlite3_context *context) { (void)context; }

int lv_define_digest(sqlite3 *connection, struct lv_aggregate *aggregate) {
    return sqlite3_create_function_v2(
        connection, "litevault_digest", -1, SQLITE_UTF8, aggregate, NULL, aggregate ? digest_step : NULL,
        aggregate ? digest_final : NULL, NULL);
}

uint64_t lv_hash_bytes(uint64_t hash, const void *bytes, size_t length) { return add_bytes(hash, bytes, length); }
