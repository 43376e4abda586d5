#define _GNU_SOURCE
#include "CEngineSupport.h"

#include "EngineLibrary.h"

#include <stdlib.h>

// OpenSSL's own documentation: man 3 PKCS5_PBKDF2_HMAC, man 3 HMAC, man 3 EVP_sha512. SQLCipher is linked to libcrypto,
// so it is in the process whenever the engine encrypts with it.
extern const void *EVP_sha1(void) LV_OPTIONAL;
extern const void *EVP_sha256(void) LV_OPTIONAL;
extern const void *EVP_sha512(void) LV_OPTIONAL;
extern int PKCS5_PBKDF2_HMAC(const char *, int, const unsigned char *, int, int, const void *, int,
                             unsigned char *) LV_OPTIONAL;
extern void *HMAC_CTX_new(void) LV_OPTIONAL;
extern void HMAC_CTX_free(void *) LV_OPTIONAL;
extern int HMAC_Init_ex(void *, const void *, int, const void *, void *) LV_OPTIONAL;
extern int HMAC_Update(void *, const unsigned char *, size_t) LV_OPTIONAL;
extern int HMAC_Final(void *, unsigned char *, unsigned int *) LV_OPTIONAL;

struct crypto {
    __typeof__(EVP_sha1) *sha1;
    __typeof__(EVP_sha256) *sha256;
    __typeof__(EVP_sha512) *sha512;
    __typeof__(PKCS5_PBKDF2_HMAC) *pbkdf2;
    __typeof__(HMAC_CTX_new) *hmac_new;
    __typeof__(HMAC_CTX_free) *hmac_free;
    __typeof__(HMAC_Init_ex) *hmac_init;
    __typeof__(HMAC_Update) *hmac_update;
    __typeof__(HMAC_Final) *hmac_final;
};

static bool find(struct crypto *c) {
    c->sha1 = LV_FIND(EVP_sha1);
    c->sha256 = LV_FIND(EVP_sha256);
    c->sha512 = LV_FIND(EVP_sha512);
    c->pbkdf2 = LV_FIND(PKCS5_PBKDF2_HMAC);
    c->hmac_new = LV_FIND(HMAC_CTX_new);
    c->hmac_free = LV_FIND(HMAC_CTX_free);
    c->hmac_init = LV_FIND(HMAC_Init_ex);
    c->hmac_update = LV_FIND(HMAC_Update);
    c->hmac_final = LV_FIND(HMAC_Final);
    return c->sha1 && c->sha256 && c->sha512 && c->pbkdf2 && c->hmac_new && c->hmac_free && c->hmac_init &&
           c->hmac_update && c->hmac_final;
}

static const void *algorithm(const struct crypto *c, enum lv_digest digest) {
    switch (digest) {
    case LV_SHA1: return c->sha1();
    case LV_SHA256: return c->sha256();
    case LV_SHA512: return c->sha512();
    }
    return 0;
}

bool lv_digests_available(void) {
    struct crypto c;
    return find(&c);
}

bool lv_pbkdf2(enum lv_digest digest, const void *password, size_t passwordLength, const void *salt,
               size_t saltLength, uint32_t iterations, void *key, size_t keyLength) {
    struct crypto c;
    if (!find(&c) || iterations == 0 || iterations > INT32_MAX || passwordLength > INT32_MAX) return false;
    return c.pbkdf2(password, (int)passwordLength, salt, (int)saltLength, (int)iterations, algorithm(&c, digest),
                    (int)keyLength, key) == 1;
}

struct lv_hmac {
    struct crypto crypto;
    void *context;
};

struct lv_hmac *lv_hmac_create(enum lv_digest digest, const void *key, size_t keyLength) {
    struct lv_hmac *hmac = calloc(1, sizeof *hmac);
    if (!hmac) return 0;
    if (keyLength <= INT32_MAX && find(&hmac->crypto) && (hmac->context = hmac->crypto.hmac_new()) &&
        hmac->crypto.hmac_init(hmac->context, key, (int)keyLength, algorithm(&hmac->crypto, digest), 0) == 1)
        return hmac;
    lv_hmac_free(hmac);
    return 0;
}

void lv_hmac_free(struct lv_hmac *hmac) {
    // It wipes what was derived from the key.
    if (hmac->context) hmac->crypto.hmac_free(hmac->context);
    free(hmac);
}

size_t lv_hmac_of(struct lv_hmac *hmac, const void *first, size_t firstLength, const void *second, size_t secondLength,
                  void *output) {
    const struct crypto *c = &hmac->crypto;
    unsigned int written = 0;
    // Without a key: the one it has, whose blocks need not be hashed again.
    bool done = c->hmac_init(hmac->context, 0, 0, 0, 0) == 1 && c->hmac_update(hmac->context, first, firstLength) == 1 &&
                c->hmac_update(hmac->context, second, secondLength) == 1 &&
                c->hmac_final(hmac->context, output, &written) == 1;
    return done ? written : 0;
}
