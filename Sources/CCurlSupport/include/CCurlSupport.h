// What Swift cannot say: libcurl's variadic functions, with one function for each type of argument. Nothing else belongs here.
#ifndef LITEVAULT_CURL_SUPPORT_H
#define LITEVAULT_CURL_SUPPORT_H

#include <curl/curl.h>

// curl_easy_setopt

CURLcode ccs_set_number(CURL *_Nonnull handle, CURLoption option, long value);
CURLcode ccs_set_size(CURL *_Nonnull handle, CURLoption option, curl_off_t value);
CURLcode ccs_set_text(CURL *_Nonnull handle, CURLoption option, const char *_Nullable value);
CURLcode ccs_set_pointer(CURL *_Nonnull handle, CURLoption option, void *_Nullable value);
CURLcode ccs_set_list(CURL *_Nonnull handle, CURLoption option, struct curl_slist *_Nullable value);
/// For the options that name a function which receives or provides bytes: of headers, of a body, of an upload.
CURLcode ccs_set_bytes_function(CURL *_Nonnull handle, CURLoption option, curl_write_callback _Nonnull value);
CURLcode ccs_set_seek_function(CURL *_Nonnull handle, curl_seek_callback _Nonnull value);
CURLcode ccs_set_open_socket_function(CURL *_Nonnull handle, curl_opensocket_callback _Nonnull value);
CURLcode ccs_set_close_socket_function(CURL *_Nonnull handle, curl_closesocket_callback _Nonnull value);
CURLcode ccs_set_prerequest_function(CURL *_Nonnull handle, curl_prereq_callback _Nonnull value);

// curl_easy_getinfo

CURLcode ccs_get_number(CURL *_Nonnull handle, CURLINFO info, long *_Nonnull value);
CURLcode ccs_get_size(CURL *_Nonnull handle, CURLINFO info, curl_off_t *_Nonnull value);

// curl_multi_setopt

CURLMcode ccs_multi_set_number(CURLM *_Nonnull handle, CURLMoption option, long value);

#endif
