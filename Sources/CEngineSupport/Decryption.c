#define _GNU_SOURCE
#include "CEngineSupport.h"

#include "EngineLibrary.h"

#include <stdlib.h>

// AES-256-CBC by OpenSSL (man 3 EVP_DecryptInit), found as the digests are: see EngineLibrary.h. It decrypts pages that were
// written by the engine, to compare them; nothing here encrypts.
extern void *EVP_CIPHER_CTX_new(void) LV_OPTIONAL;
extern void EVP_CIPHER_CTX_free(void *) LV_OPTIONAL;
extern const void *EVP_aes_256_cbc(void) LV_OPTIONAL;
extern int EVP_DecryptInit_ex(void *, const void *, void *, const unsigned char *, const unsigned char *) LV_OPTIONAL;
extern int EVP_DecryptUpdate(void *, unsigned char *, int *, const unsigned char *, int) LV_OPTIONAL;
extern int EVP_CIPHER_CTX_set_padding(void *, int) LV_OPTIONAL;

struct lv_decryption {
    __typeof__(EVP_CIPHER_CTX_free) *free;
    __typeof__(EVP_DecryptInit_ex) *init;
    __typeof__(EVP_DecryptUpdate) *update;
    void *context;
};

struct lv_decryption *lv_decryption_create(const void *key) {
    __typeof__(EVP_CIPHER_CTX_new) *new = LV_FIND(EVP_CIPHER_CTX_new);
    __typeof__(EVP_aes_256_cbc) *cipher = LV_FIND(EVP_aes_256_cbc);
    __typeof__(EVP_CIPHER_CTX_set_padding) *pad = LV_FIND(EVP_CIPHER_CTX_set_padding);
    struct lv_decryption *decryption = calloc(1, sizeof *decryption);
    if (!decryption) return 0;
    decryption->free = LV_FIND(EVP_CIPHER_CTX_free);
    decryption->init = LV_FIND(EVP_DecryptInit_ex);
    decryption->update = LV_FIND(EVP_DecryptUpdate);
    // Pages are whole blocks of the cipher: with padding, the last one would be kept back.
    if (new && cipher && pad && decryption->free && decryption->init && decryption->update &&
        (decryption->context = new()) && decryption->init(decryption->context, cipher(), 0, key, 0) == 1 &&
        pad(decryption->context, 0) == 1)
        return decryption;
    lv_decryption_free(decryption);
    return 0;
}

void lv_decryption_free(struct lv_decryption *decryption) {
    // It wipes the expanded key.
    if (decryption->context) decryption->free(decryption->context);
    free(decryption);
}

bool lv_decrypt(struct lv_decryption *decryption, const void *vector, const void *bytes, size_t length, void *output) {
    int written = 0;
    // Without a key: the one it has.
    return length <= INT32_MAX && decryption->init(decryption->context, 0, 0, 0, vector) == 1 &&
           decryption->update(decryption->context, output, &written, bytes, (int)length) == 1 &&
           (size_t)written == length;
}
