#if canImport(CCurl)
    internal import CCurl
    internal import LiteVaultSystem

    /// Why a transfer failed, before its handle is removed.
    struct CurlFailure {
        let handle: UnsafeMutableRawPointer
        /// libcurl's own, in lower case.
        let words: String
        /// Whether an answer had begun.
        let hasHead: Bool
        let proxy: String?

        func failure(_ result: CURLcode) -> HTTPFailure {
            let status = number(CURLINFO_HTTP_CONNECTCODE)
            if let proxy, !hasHead, status != 0, !(200..<300).contains(status) {
                return .proxy(status == 407 ? .needsPassword : .refused(status), proxy)
            }
            switch result {
            case CURLE_COULDNT_RESOLVE_HOST: return .unresolved
            case CURLE_COULDNT_RESOLVE_PROXY: return .proxy(.unresolved, proxy ?? "")
            case CURLE_COULDNT_CONNECT: return proxy.map { .proxy(.failed, $0) } ?? .unreachable(systemError)
            case CURLE_OPERATION_TIMEDOUT: return timeout
            case CURLE_GOT_NOTHING: return .closed
            case CURLE_PARTIAL_FILE: return .truncated
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING: return .notHTTP
            case CURLE_URL_MALFORMAT: return .invalidRequest
            case CURLE_OUT_OF_MEMORY: return .other("there is not enough memory")
            case CURLE_SEND_ERROR, CURLE_RECV_ERROR: return lost
            case CURLE_PEER_FAILED_VERIFICATION: return .tls(certificate)
            case CURLE_SSL_CONNECT_ERROR: return handshake
            case CURLE_SSL_CACERT_BADFILE: return .tls(.unreadableCertificates)
            case CURLE_PROXY: return .proxy(.failed, proxy ?? "")
            default: return .other("the transfer failed (libcurl's error \(result.rawValue))")
            }
        }

        private var timeout: HTTPFailure {
            // Each limit has the same code. What has been reached tells them apart.
            if hasHead || size(CURLINFO_PRETRANSFER_TIME_T) > 0 {
                return words.contains("too slow") || words.contains("less than") ? .silence : .deadline
            }
            if let proxy, number(CURLINFO_HTTP_CONNECTCODE) == 0 { return .proxy(.failed, proxy) }
            return size(CURLINFO_CONNECT_TIME_T) > 0 ? .handshakeTimeout : .connectTimeout
        }

        private var lost: HTTPFailure {
            // A tunnel that is not made is a failure to receive.
            if let proxy, size(CURLINFO_PRETRANSFER_TIME_T) == 0 { return .proxy(.failed, proxy) }
            if hasHead { return .truncated }
            return .lost(systemError)
        }

        private var handshake: HTTPFailure {
            for sign in [
                "wrong version number", "http request", "packet length", "record layer", "unexpected message",
            ]
            where words.contains(sign) {
                return .tls(.missing)
            }
            if let proxy, number(CURLINFO_HTTP_CONNECTCODE) == 0 { return .proxy(.failed, proxy) }
            if [ECONNRESET, EPIPE].contains(systemError) || words.contains("syscall") { return .lost(ECONNRESET) }
            return .tls(.other)
        }

        /// By OpenSSL's words, which are the same in all versions; libcurl's number for them is not set in each case.
        private var certificate: HTTPFailure.TLS {
            if words.contains("expired") { return .expired }
            if words.contains("not yet valid") { return .notYetValid }
            let isOther = ["alternative certificate", "does not match", "mismatch"].contains { words.contains($0) }
            return isOther ? .otherHost : .unknownAuthority
        }

        private var systemError: CInt { CInt(truncatingIfNeeded: number(CURLINFO_OS_ERRNO)) }

        private func number(_ info: CURLINFO) -> Int {
            var value = 0
            _ = ccs_get_number(handle, info, &value)
            return value
        }

        private func size(_ info: CURLINFO) -> Int64 {
            var value: curl_off_t = 0
            _ = ccs_get_size(handle, info, &value)
            return Int64(value)
        }
    }

    extension HTTPSettings {
        package func transport() throws -> any HTTPTransport { CurlTransport(settings: self) }

        /// The file of certificates that libcurl was built to trust; nil without one.
        package static let presetCertificates: String? = {
            guard let known = curl_version_info(CURLVERSION_SEVENTH)?.pointee,
                known.age.rawValue >= CURLVERSION_SEVENTH.rawValue,
                let path = known.cainfo
            else { return nil }
            return String(cString: path)
        }()
    }

    /// Sends requests by libcurl.
    struct CurlTransport: HTTPTransport {
        let settings: HTTPSettings

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard let loop = CurlLoop.shared else { throw HTTPFailure.other("libcurl cannot be initialized") }
            let transfer = try CurlTransfer(request, settings, loop)
            let exchange = transfer.exchange
            let head = try await exchange.head(transfer) { loop.ask(.add(transfer)) }
            return HTTPResponse(head, HTTPBody(exchange))
        }
    }
#endif
