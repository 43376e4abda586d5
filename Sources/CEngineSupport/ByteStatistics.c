#include "CEngineSupport.h"

#include <string.h>

// What uniformly distributed bytes reach with a probability below 2^-80, for up to 128, 256, 384 and 512 bytes, and for
// up to 1 … 8 windows of 512: how often the most frequent byte occurs, and the sum of the squares of all 256 counts.
// CiphertextTest.swift says how they were computed, and a test computes them again.
struct limits {
    uint32_t count, squares;
};
static const struct limits windowLimits[4] = {{22, 740}, {26, 1421}, {30, 2286}, {33, 3337}};
static const struct limits blockLimits[8] = {{33, 3337},  {43, 9245},  {51, 17705}, {59, 28631},
                                             {66, 41973}, {73, 57693}, {80, 75765}, {86, 96166}};

enum { window = 512, block = 8 * window };

static bool is_zero(const uint8_t *bytes, size_t length) {
    return bytes[0] == 0 && memcmp(bytes, bytes + 1, length - 1) == 0;
}

// What is known of the counts of some bytes.
struct statistics {
    uint32_t most, squares;
};

static struct statistics statistics_of(const uint32_t counts[256]) {
    struct statistics result = {0, 0};
    for (int value = 0; value < 256; value++) {
        result.most = counts[value] > result.most ? counts[value] : result.most;
        result.squares += counts[value] * counts[value];
    }
    return result;
}

static bool reaches(struct statistics found, struct limits limits) {
    return found.most >= limits.count || found.squares >= limits.squares;
}

// Adds the bytes to four tables, so that equal bytes in a row do not wait for each other.
static void count_bytes(const uint8_t *bytes, size_t length, uint32_t tables[4][256]) {
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
        uint64_t word;
        memcpy(&word, bytes + at, 8);
        tables[0][word & 0xff]++;
        tables[1][word >> 8 & 0xff]++;
        tables[2][word >> 16 & 0xff]++;
        tables[3][word >> 24 & 0xff]++;
        tables[0][word >> 32 & 0xff]++;
        tables[1][word >> 40 & 0xff]++;
        tables[2][word >> 48 & 0xff]++;
        tables[3][word >> 56]++;
    }
    for (; at < length; at++) tables[0][bytes[at]]++;
}

static struct statistics examine(uint32_t tables[4][256]) {
    for (int value = 0; value < 256; value++) {
        tables[0][value] += tables[1][value] + tables[2][value] + tables[3][value];
    }
    return statistics_of(tables[0]);
}

uint32_t lv_byte_limit(size_t length, bool squares) {
    if (length == 0 || length > block) return UINT32_MAX;
    struct limits limits = length <= window ? windowLimits[(length - 1) / 128] : blockLimits[(length - 1) / window];
    return squares ? limits.squares : limits.count;
}

ptrdiff_t lv_find_structure(const void *start, size_t length) {
    const uint8_t *bytes = start;
    if (length > block) length = block;
    uint32_t tables[4][256] = {{0}};
    size_t counted = 0;
    for (size_t offset = 0; offset < length; offset += window) {
        size_t rest = length - offset < window ? length - offset : window;
        // Nothing was written there, and nothing can be read from it.
        if (rest < 128 || is_zero(bytes + offset, rest)) continue;
        count_bytes(bytes + offset, rest, tables);
        counted += rest;
    }
    if (counted == 0) return -1;
    struct statistics all = examine(tables);
    bool isReached = counted > window && reaches(all, blockLimits[(counted - 1) / window]);
    // A window that reaches its limit lifts the sum of all by five standard deviations or more. Of a hundred blocks of
    // uniform bytes one exceeds two and a half, and only then it takes the time to look at each window.
    uint32_t usual = (uint32_t)(counted + counted * counted / 256 + counted * 2 / 9);
    if (!isReached && counted > window && all.squares < usual) return -1;
    for (size_t offset = 0; offset < length; offset += window) {
        size_t rest = length - offset < window ? length - offset : window;
        if (rest < 128 || is_zero(bytes + offset, rest)) continue;
        memset(tables, 0, sizeof tables);
        count_bytes(bytes + offset, rest, tables);
        if (reaches(examine(tables), windowLimits[(rest - 1) / 128])) return (ptrdiff_t)offset;
    }
    return isReached ? 0 : -1;
}
