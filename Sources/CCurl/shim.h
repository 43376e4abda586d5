// libcurl (Debian: libcurl4-openssl-dev), and what Swift cannot say of it: its variadic functions, with one function for each type of
// argument. Nothing else belongs here.
#ifndef LITEVAULT_CURL_H
#define LITEVAULT_CURL_H

// Its checks of argument types are macros for options that are constants, which they are not here.
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

// curl_easy_setopt

static inline CURLcode ccs_set_number(CURL *_Nonnull handle, CURLoption option, long value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccs_set_size(CURL *_Nonnull handle, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccs_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccs_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccs_set_list(CURL *_Nonnull handle, CURLoption option, struct curl_slist *_Nullable value) {
    return curl_easy_setopt(handle, option, value);
}

/// For the options that name a function which receives or provides bytes: of headers, of a body, of an upload.
static inline CURLcode ccs_set_bytes_function(
    CURL *_Nonnull handle, CURLoption option, curl_write_callback _Nonnull value) {
    return curl_easy_setopt(handle, option, value);
}

static inline CURLcode ccs_set_seek_function(CURL *_Nonnull handle, curl_seek_callback _Nonnull value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}

static inline CURLcode ccs_set_open_socket_function(CURL *_Nonnull handle, curl_opensocket_callback _Nonnull value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

static inline CURLcode ccs_set_close_socket_function(CURL *_Nonnull handle, curl_closesocket_callback _Nonnull value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

static inline CURLcode ccs_set_prerequest_function(CURL *_Nonnull handle, curl_prereq_callback _Nonnull value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

// curl_easy_getinfo

static inline CURLcode ccs_get_number(CURL *_Nonnull handle, CURLINFO info, long *_Nonnull value) {
    return curl_easy_getinfo(handle, info, value);
}

static inline CURLcode ccs_get_size(CURL *_Nonnull handle, CURLINFO info, curl_off_t *_Nonnull value) {
    return curl_easy_getinfo(handle, info, value);
}

// curl_multi_setopt

static inline CURLMcode ccs_multi_set_number(CURLM *_Nonnull handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}

#endif
