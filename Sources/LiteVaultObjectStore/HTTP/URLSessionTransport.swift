#if canImport(Darwin)
    internal import LiteVaultBackup
    internal import LiteVaultSystem

    extension HTTPSettings {
        /// A client with these settings.
        ///
        /// - Throws: `VaultError` `unsupported` for certificates in a file: the system's keychain has those to trust.
        package func transport() throws -> any HTTPTransport {
            guard certificates == nil else {
                throw VaultError(
                    .unsupported, "certificates to trust cannot be read from a file on this system", path: certificates,
                    remedy: "Unset AWS_CA_BUNDLE and SSL_CERT_FILE, and add the authority to the keychain.")
            }
            return URLSessionTransport(self)
        }

        package static let presetCertificates: String? = nil
    }

    /// Sends requests by URLSession. The proxy is that of the system's settings. The body of a request is in memory.
    struct URLSessionTransport: HTTPTransport {
        private let settings: HTTPSettings
        private let session: URLSession

        init(_ settings: HTTPSettings) {
            let configuration = URLSessionConfiguration.ephemeral
            configuration.timeoutIntervalForRequest = settings.silence.seconds
            configuration.httpCookieStorage = nil
            configuration.urlCredentialStorage = nil
            configuration.urlCache = nil
            self.settings = settings
            session = URLSession(configuration: configuration)
        }

        func send(_ request: HTTPRequest) async throws -> HTTPResponse {
            guard let url = URL(string: request.url) else { throw HTTPFailure.invalidRequest }
            var made = URLRequest(url: url)
            made.httpMethod = request.method
            for (name, value) in request.headers where name.lowercased() != "host" {
                made.setValue(value, forHTTPHeaderField: name)
            }
            switch request.body {
            case .none: break
            case .bytes(let bytes): made.httpBody = Data(bytes)
            case .file(let slice):
                made.httpBody = Data(try slice.file.read(at: slice.start, count: Int(slice.count)))
            }
            let transfer = URLSessionTransfer(session.dataTask(with: made))
            let head = try await transfer.exchange.head(transfer) { transfer.start() }
            return HTTPResponse(head, HTTPBody(transfer.exchange))
        }
    }

    private final class URLSessionTransfer: NSObject, URLSessionDataDelegate, HTTPExchange.Source, @unchecked Sendable {
        let exchange = HTTPExchange()
        private let task: URLSessionDataTask
        /// What came while the reader's buffer was full.
        private let rest = Locked(Data())

        init(_ task: URLSessionDataTask) { self.task = task }

        func start() {
            task.delegate = self
            task.resume()
        }

        func resume() {
            let data = rest.withLock { rest in
                defer { rest = Data() }
                return rest
            }
            offer(data)
            if rest.value.isEmpty { task.resume() }
        }

        func cancel() { task.cancel() }

        func urlSession(
            _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest
        ) async -> URLRequest? {
            // A redirected request would carry a signature for another host.
            nil
        }

        func urlSession(
            _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse
        ) async -> URLSession.ResponseDisposition {
            guard let response = response as? HTTPURLResponse else { return .cancel }
            var head = HTTPHead(status: response.statusCode)
            for (name, value) in response.allHeaderFields { head.add(line: "\(name): \(value)") }
            exchange.receive(head)
            return .allow
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) { offer(data) }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            guard let error else { return exchange.end(with: .success(())) }
            exchange.end(with: .failure((error as? URLError).map(Self.failure) ?? HTTPFailure.lost(0)))
        }

        private func offer(_ data: Data) {
            guard case .full = data.withUnsafeBytes({ exchange.receive($0) }) else { return }
            rest.withLock { $0 += data }
            task.suspend()
        }

        private static func failure(_ error: URLError) -> HTTPFailure {
            switch error.code {
            case .cannotFindHost, .dnsLookupFailed: .unresolved
            case .cannotConnectToHost: .unreachable(ECONNREFUSED)
            case .notConnectedToInternet: .unreachable(ENETUNREACH)
            case .timedOut: .silence
            case .networkConnectionLost: .lost(0)
            case .serverCertificateUntrusted, .serverCertificateHasUnknownRoot: .tls(.unknownAuthority)
            case .serverCertificateHasBadDate: .tls(.expired)
            case .serverCertificateNotYetValid: .tls(.notYetValid)
            case .secureConnectionFailed: .tls(.other)
            case .badServerResponse, .cannotParseResponse: .notHTTP
            default: .other("the transfer failed (URLSession's error \(error.code.rawValue))")
            }
        }
    }
#endif
