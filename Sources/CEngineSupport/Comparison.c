#include "CEngineSupport.h"

#include "EngineHeader.h"

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

static uint64_t add_number(uint64_t hash, uint64_t type, int64_t number) {
    return mix(hash ^ (type * 0x9e3779b97f4a7c15ull), (uint64_t)number ^ 0x2d358dccaa6c78a5ull);
}

// An index keeps a whole number of a REAL column as a real, its table as an integer: both count as the integer.
static uint64_t add_value(uint64_t hash, sqlite3_value *value) {
    int type = sqlite3_value_type(value);
    switch (type) {
    case SQLITE_INTEGER: return add_number(hash, SQLITE_INTEGER, sqlite3_value_int64(value));
    case SQLITE_FLOAT: {
        double number = sqlite3_value_double(value);
        if (number > -9007199254740992.0 && number < 9007199254740992.0 && (double)(int64_t)number == number)
            return add_number(hash, SQLITE_INTEGER, (int64_t)number);
        int64_t bits;
        memcpy(&bits, &number, sizeof bits);
        return add_number(hash, SQLITE_FLOAT, bits);
    }
    case SQLITE_TEXT:
    case SQLITE_BLOB: {
        // As a blob, a text keeps the encoding of its database; the length is right only after that call.
        const void *bytes = sqlite3_value_blob(value);
        int length = sqlite3_value_bytes(value);
        return add_bytes(hash ^ (uint64_t)type, bytes, bytes ? (size_t)length : 0);
    }
    default: return add_number(hash, SQLITE_NULL, 0);
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

void lv_digest_row(sqlite3_stmt *statement, struct lv_row_digest *digest) {
    uint64_t hash = 0x60bee2bee120fc15ull;
    for (int index = 0; index < digest->count; index++)
        hash = add_value(hash, sqlite3_column_value(statement, digest->columns[index]));
    digest->sum += hash;
    digest->rows++;
}

enum lv_comparison lv_compare_rows(
    sqlite3_stmt *left, sqlite3_stmt *right, bool areNumbered, struct lv_row_digest *digests, int digestCount,
    int64_t *rows, int (*progress)(void *, int64_t), void *context, int *code) {
    int count = sqlite3_column_count(left);
    int64_t last = 0;
    bool isFirst = true;
    if (count != sqlite3_column_count(right)) return LV_ROWS_DIFFER;
    for (;;) {
        *code = sqlite3_step(left);
        if (*code != SQLITE_ROW && *code != SQLITE_DONE) return LV_LEFT_FAILED;
        bool isDone = *code == SQLITE_DONE;
        *code = sqlite3_step(right);
        if (*code != SQLITE_ROW && *code != SQLITE_DONE) return LV_RIGHT_FAILED;
        if (isDone != (*code == SQLITE_DONE)) return LV_ROWS_DIFFER;
        if (isDone) return LV_ROWS_EQUAL;
        for (int index = 0; index < count; index++)
            if (!are_equal(sqlite3_column_value(left, index), sqlite3_column_value(right, index)))
                return LV_ROWS_DIFFER;
        if (areNumbered) {
            int64_t number = sqlite3_column_int64(right, 0);
            if (!isFirst && number <= last) return LV_ROWS_UNORDERED;
            last = number;
            isFirst = false;
        }
        for (int index = 0; index < digestCount; index++) lv_digest_row(right, &digests[index]);
        if (++*rows % 1024 == 0 && progress(context, *rows) != 0) return LV_CANCELLED;
    }
}

int lv_digest_rows(sqlite3_stmt *statement, struct lv_row_digest *digests, int digestCount,
                   int (*progress)(void *, int64_t), void *context) {
    for (int64_t rows = 1;; rows++) {
        int code = sqlite3_step(statement);
        if (code != SQLITE_ROW) return code;
        for (int index = 0; index < digestCount; index++) lv_digest_row(statement, &digests[index]);
        if (rows % 1024 == 0 && progress(context, rows) != 0) return SQLITE_INTERRUPT;
    }
}

uint64_t lv_hash_bytes(uint64_t hash, const void *bytes, size_t length) { return add_bytes(hash, bytes, length); }
