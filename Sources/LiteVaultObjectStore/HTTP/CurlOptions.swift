#if canImport(CCurl)
    internal import CCurl
    internal import LiteVaultSystem

    struct CurlOptions {
        private let handle: UnsafeMutableRawPointer
        /// What libcurl refers to, but does not free.
        private(set) var lists: [UnsafeMutablePointer<curl_slist>] = []
        private(set) var areValid = true

        init(_ handle: UnsafeMutableRawPointer) { self.handle = handle }

        mutating func set(_ request: HTTPRequest, _ settings: HTTPSettings) {
            // Not by libcurl: what it allows depends on its version.
            guard let url = URLComponents(string: request.url), let host = url.host, !host.isEmpty,
                let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https"
            else {
                areValid = false
                return
            }
            set(CURLOPT_URL, request.url)
            set(CURLOPT_PATH_AS_IS, 1)
            set(CURLOPT_NOSIGNAL, 1)
            set(CURLOPT_NOPROXY, "")
            // Requests are small, or limited by the network: HTTP/2 would gain nothing, and shares one connection.
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
            set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
            set(CURLOPT_BUFFERSIZE, 256 << 10)
            set(CURLOPT_UPLOAD_BUFFERSIZE, 512 << 10)
            set(CURLOPT_TCP_NODELAY, 1)
            set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTime))
            set(CURLOPT_TIMEOUT_MS, Self.milliseconds(request.timeLimit))
            set(CURLOPT_LOW_SPEED_LIMIT, settings.bytesPerSecond)
            set(CURLOPT_LOW_SPEED_TIME, max(1, Int(settings.silence.seconds.rounded(.up))))
            if let file = settings.certificates {
                let isDirectory = (try? FileMetadata(path: file, followingLinks: true))?.kind == .directory
                set(isDirectory ? CURLOPT_CAPATH : CURLOPT_CAINFO, file)
                set(isDirectory ? CURLOPT_PROXY_CAPATH : CURLOPT_PROXY_CAINFO, file)
            }
            if let addresses = settings.hosts[host.lowercased()] {
                set(CURLOPT_RESOLVE, ["\(host):\(url.port ?? (scheme == "https" ? 443 : 80)):\(addresses)"])
            }
            setMethod(request)
            setHeaders(request)
        }

        private mutating func setMethod(_ request: HTTPRequest) {
            switch (request.method, request.body) {
            case ("GET", .none): set(CURLOPT_HTTPGET, 1)
            case ("HEAD", .none): set(CURLOPT_NOBODY, 1)
            case ("DELETE", .none):
                set(CURLOPT_HTTPGET, 1)
                set(CURLOPT_CUSTOMREQUEST, request.method)
            case let (method, body):
                // An empty body has a length as well.
                set(CURLOPT_UPLOAD, 1)
                set(CURLOPT_CUSTOMREQUEST, method)
                check(ccs_set_size(handle, CURLOPT_INFILESIZE_LARGE, curl_off_t(body.count)))
            }
        }

        private mutating func setHeaders(_ request: HTTPRequest) {
            // Asking the server before a body is sent costs a round trip for each, and answers of 417 with some.
            var lines = ["Expect:", "Accept:"]
            for (name, value) in request.headers {
                // A line break would begin another header.
                guard !name.isEmpty, !(name + value).utf8.contains(where: { $0 < 32 && $0 != 9 || $0 == 127 }) else {
                    areValid = false
                    return
                }
                lines.append(value.isEmpty ? "\(name);" : "\(name): \(value)")
            }
            set(CURLOPT_HTTPHEADER, lines)
        }

        mutating func set(_ proxy: ProxyRules.Proxy?) {
            // An empty text switches off what libcurl would take from the environment.
            set(CURLOPT_PROXY, proxy?.url ?? "")
            guard let proxy else { return }
            if let user = proxy.user { set(CURLOPT_PROXYUSERNAME, user) }
            if let password = proxy.password { set(CURLOPT_PROXYPASSWORD, password) }
        }

        private mutating func set(_ option: CURLoption, _ value: Int) { check(ccs_set_number(handle, option, value)) }

        private mutating func set(_ option: CURLoption, _ value: String) {
            if value.utf8.contains(0) { areValid = false }
            check(ccs_set_text(handle, option, value))
        }

        private mutating func set(_ option: CURLoption, _ values: [String]) {
            var list: UnsafeMutablePointer<curl_slist>?
            for value in values {
                guard let longer = curl_slist_append(list, value) else {
                    areValid = false
                    break
                }
                list = longer
            }
            guard let list else { return }
            lists.append(list)
            check(ccs_set_list(handle, option, list))
        }

        private mutating func check(_ code: CURLcode) {
            // A library without a feature has nothing to set for it.
            if code != CURLE_OK, code != CURLE_UNKNOWN_OPTION, code != CURLE_NOT_BUILT_IN { areValid = false }
        }

        private static func milliseconds(_ time: Duration) -> Int {
            // 0 would mean no limit.
            Int(min(max(1, (time.seconds * 1000).rounded(.up)), 2_000_000_000))
        }
    }
#endif
