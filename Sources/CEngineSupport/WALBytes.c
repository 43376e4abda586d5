#include "CEngineSupport.h"

#include <string.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

uint32_t lv_shared_load(const void *address) {
    return __atomic_load_n((const uint32_t *)address, __ATOMIC_SEQ_CST);
}

void lv_shared_store(void *address, uint32_t value) {
    __atomic_store_n((uint32_t *)address, value, __ATOMIC_SEQ_CST);
}

void lv_wal_checksum(bool bigEndian, const void *bytes, size_t length, uint32_t *sums) {
    const unsigned char *p = bytes;
    uint32_t first = sums[0], second = sums[1];
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bool swap = !bigEndian;
#else
    bool swap = bigEndian;
#endif
    for (size_t offset = 0; offset + 8 <= length; offset += 8) {
        uint32_t words[2];
        memcpy(words, p + offset, 8);
        if (swap) {
            words[0] = __builtin_bswap32(words[0]);
            words[1] = __builtin_bswap32(words[1]);
        }
        first += words[0] + second;
        second += words[1] + first;
    }
    sums[0] = first;
    sums[1] = second;
}

uint32_t lv_file_system_type(const char *path) {
#if defined(__linux__)
    struct statfs information;
    if (statfs(path, &information) != 0) return 0;
    return (uint32_t)information.f_type;
#else
    (void)path;
    return 0;
#endif
}
