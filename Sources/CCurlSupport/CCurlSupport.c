#include "CCurlSupport.h"

CURLcode ccs_set_number(CURL *handle, CURLoption option, long value) { return curl_easy_setopt(handle, option, value); }

CURLcode ccs_set_size(CURL *handle, CURLoption option, curl_off_t value) { return curl_easy_setopt(handle, option, value); }

CURLcode ccs_set_text(CURL *handle, CURLoption option, const char *value) { return curl_easy_setopt(handle, option, value); }

CURLcode ccs_set_pointer(CURL *handle, CURLoption option, void *value) { return curl_easy_setopt(handle, option, value); }

CURLcode ccs_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode ccs_set_bytes_function(CURL *handle, CURLoption option, curl_write_callback value) {
    return curl_easy_setopt(handle, option, value);
}

CURLcode ccs_set_seek_function(CURL *handle, curl_seek_callback value) {
    return curl_easy_setopt(handle, CURLOPT_SEEKFUNCTION, value);
}

CURLcode ccs_set_open_socket_function(CURL *handle, curl_opensocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, value);
}

CURLcode ccs_set_close_socket_function(CURL *handle, curl_closesocket_callback value) {
    return curl_easy_setopt(handle, CURLOPT_CLOSESOCKETFUNCTION, value);
}

CURLcode ccs_set_prerequest_function(CURL *handle, curl_prereq_callback value) {
    return curl_easy_setopt(handle, CURLOPT_PREREQFUNCTION, value);
}

CURLcode ccs_get_number(CURL *handle, CURLINFO info, long *value) { return curl_easy_getinfo(handle, info, value); }

CURLcode ccs_get_size(CURL *handle, CURLINFO info, curl_off_t *value) { return curl_easy_getinfo(handle, info, value); }

CURLMcode ccs_multi_set_number(CURLM *handle, CURLMoption option, long value) {
    return curl_multi_setopt(handle, option, value);
}
