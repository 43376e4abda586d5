// Passphrases are turned into keys once for all processes of a suite: preloaded, it answers libcrypto's PKCS5_PBKDF2_HMAC from a table.
//
// SQLCipher 4 derives with 256,000 rounds, 0.1 s of CPU, whenever a process opens a database by a passphrase, and suites open the same ones
// in hundreds of processes. The function has one answer for each input, so what a test sees is the same. The table is a file that
// KEYTABLE names, of any number of slots, all zero at first. It holds passphrases and keys of tests: where a suite looks for
// secrets in memory or in all files it is not used (Tests/NAME/suite.toml, derived-keys).
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { empty, writing, ready };
enum { longest_input = 232, longest_key = 84, probes = 32, fewest_rounds = 1000 };

struct slot {
    _Atomic uint32_t state;
    uint32_t length;  // of the input
    unsigned char input[longest_input], key[longest_key];
};

typedef int derive(const char *, int, const unsigned char *, int, int, const void *, int, unsigned char *);
typedef int type_of(const void *);

static struct slot *slots;  // NULL where there is no table
static size_t count;

static void open_table(void) {
    const char *path = getenv("KEYTABLE");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    struct stat status;
    if (file < 0) return;
    if (fstat(file, &status) == 0 && (count = (size_t)status.st_size / sizeof(struct slot)) > 0) {
        void *mapped = mmap(NULL, count * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        slots = mapped == MAP_FAILED ? NULL : mapped;
    }
    close(file);
}

// Libcrypto's own function. Python loads that library late, and for itself.
static void *of_libcrypto(const char *name) {
    void *found = dlsym(RTLD_NEXT, name);
    void *library = found ? NULL : dlopen("libcrypto.so.3", RTLD_LAZY | RTLD_NOLOAD);
    return found ? found : library ? dlsym(library, name) : NULL;
}

int PKCS5_PBKDF2_HMAC(const char *passphrase, int length, const unsigned char *salt, int salt_length, int rounds, const void *digest,
                      int key_length, unsigned char *key) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_table);
    derive *derive_key = (derive *)of_libcrypto("PKCS5_PBKDF2_HMAC");
    type_of *digest_type = (type_of *)of_libcrypto("EVP_MD_get_type");
    if (!derive_key || !digest_type) return 0;
    int head[] = {length, salt_length, rounds, digest_type(digest), key_length};
    if (!slots || rounds < fewest_rounds || !passphrase || length < 0 || salt_length < 0 || key_length < 1 || key_length > longest_key ||
        sizeof head + (size_t)length + (size_t)salt_length > longest_input)
        return derive_key(passphrase, length, salt, salt_length, rounds, digest, key_length, key);

    unsigned char input[longest_input];
    uint32_t used = sizeof head + (uint32_t)length + (uint32_t)salt_length;
    memcpy(input, head, sizeof head);
    memcpy(input + sizeof head, passphrase, (size_t)length);
    memcpy(input + sizeof head + length, salt, (size_t)salt_length);
    uint64_t place = 14695981039346656037u;  // FNV-1a: it only chooses a slot, the input is compared
    for (uint32_t at = 0; at < used; at++) place = (place ^ input[at]) * 1099511628211u;

    struct slot *free_slot = NULL;
    for (int probe = 0; probe < probes && !free_slot; probe++) {
        struct slot *slot = &slots[(place + (uint64_t)probe) % count];
        uint32_t state = atomic_load(&slot->state);
        if (state == ready && slot->length == used && memcmp(slot->input, input, used) == 0) {
            memcpy(key, slot->key, (size_t)key_length);
            return 1;
        }
        if (state == empty) free_slot = slot;
    }
    int done = derive_key(passphrase, length, salt, salt_length, rounds, digest, key_length, key);
    uint32_t expected = empty;
    if (done == 1 && free_slot && atomic_compare_exchange_strong(&free_slot->state, &expected, writing)) {
        free_slot->length = used;
        memcpy(free_slot->input, input, used);
        memcpy(free_slot->key, key, (size_t)key_length);
        atomic_store(&free_slot->state, ready);
    }
    return done;
}
