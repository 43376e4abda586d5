#if canImport(CCurl)
    internal import CCurl
    internal import CSystem
    internal import LiteVaultSystem

    /// One request in libcurl.
    final class CurlTransfer: HTTPExchange.Source, @unchecked Sendable {  // used by the loop's thread alone
        let handle: UnsafeMutableRawPointer
        let exchange = HTTPExchange()
        private let loop: CurlLoop
        private let isSafe: Bool
        private let proxy: String?
        private let body: HTTPRequest.Body
        private let lists: [UnsafeMutablePointer<curl_slist>]
        /// libcurl writes its own words for an error here. They are searched, but never shown.
        private let words: UnsafeMutablePointer<CChar>

        /// The byte of the body that is sent next.
        private var sent: Int64 = 0
        private var head: HTTPHead?
        private var headBytes = 0
        private var hasHead = false
        private var attempts = 0
        /// Why a callback ended the transfer.
        private var failure: (any Error)?

        /// Prepares a request; nothing is sent yet.
        ///
        /// - Throws: ``HTTPFailure``.
        init(_ request: HTTPRequest, _ settings: HTTPSettings, _ loop: CurlLoop) throws {
            let proxy = request.isDirect ? nil : settings.proxies.proxy(for: request.url)
            guard let handle = curl_easy_init() else { throw HTTPFailure.other("there is not enough memory") }
            self.handle = handle
            self.loop = loop
            isSafe = request.method == "GET" || request.method == "HEAD"
            self.proxy = proxy?.url
            body = request.body
            words = .allocate(capacity: Int(CURL_ERROR_SIZE))
            words.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
            var options = CurlOptions(handle)
            options.set(request, settings)
            options.set(proxy)
            lists = options.lists
            _ = ccs_set_pointer(handle, CURLOPT_ERRORBUFFER, words)
            setFunctions()
            guard options.areValid else { throw HTTPFailure.invalidRequest }
        }

        deinit {
            curl_easy_cleanup(handle)
            lists.forEach { curl_slist_free_all($0) }
            words.deallocate()
        }

        func resume() { loop.ask(.resume(self)) }
        func cancel() { loop.ask(.cancel(self)) }

        // MARK: Callbacks

        private func setFunctions() {
            let me = Unmanaged.passUnretained(self).toOpaque()
            for option in [
                CURLOPT_HEADERDATA, CURLOPT_WRITEDATA, CURLOPT_READDATA, CURLOPT_SEEKDATA, CURLOPT_PREREQDATA,
            ] {
                _ = ccs_set_pointer(handle, option, me)
            }
            _ = ccs_set_bytes_function(handle, CURLOPT_HEADERFUNCTION) { bytes, size, count, me in
                CurlTransfer.of(me)?.header(UnsafeRawBufferPointer(start: bytes, count: size * count)) == true
                    ? size * count : 0
            }
            _ = ccs_set_bytes_function(handle, CURLOPT_WRITEFUNCTION) { bytes, size, count, me in
                switch CurlTransfer.of(me)?.write(UnsafeRawBufferPointer(start: bytes, count: size * count)) {
                case .taken: size * count
                case .full: Int(CURL_WRITEFUNC_PAUSE)
                // Any other number than that of the bytes is an error.
                case .unwanted, nil: size * count == 0 ? 1 : 0
                }
            }
            _ = ccs_set_bytes_function(handle, CURLOPT_READFUNCTION) { bytes, size, count, me in
                CurlTransfer.of(me)?.read(UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
                    ?? Int(CURL_READFUNC_ABORT)
            }
            _ = ccs_set_seek_function(handle) { me, offset, origin in
                guard origin == SEEK_SET, let transfer = CurlTransfer.of(me),
                    (0...transfer.body.count).contains(Int64(offset))
                else { return CURL_SEEKFUNC_FAIL }
                transfer.sent = Int64(offset)
                return CURL_SEEKFUNC_OK
            }
            _ = ccs_set_prerequest_function(handle) { me, _, _, _, _ in
                CurlTransfer.of(me)?.willSend() == true ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
            }
            // Programs that are started meanwhile must not get the connection: libcurl before 8.5 does not say so to the system.
            _ = ccs_set_open_socket_function(handle) { _, _, address in
                guard let address = address?.pointee else { return -1 }
                let socket = cps_socket(address.family, address.socktype, address.protocol)
                if socket >= 0 { CurlLoop.shared?.sockets.insert(socket) }
                return socket
            }
            _ = ccs_set_close_socket_function(handle) { _, socket in
                CurlLoop.shared?.sockets.remove(socket)
                return close(socket)
            }
        }

        private static func of(_ pointer: UnsafeMutableRawPointer?) -> CurlTransfer? {
            pointer.map { Unmanaged.fromOpaque($0).takeUnretainedValue() }
        }

        /// Called when there is a connection, before the request is sent on it.
        ///
        /// libcurl sends a request again by itself if a connection that was used before turns out to be closed. If the server has done what was
        /// asked for and only its answer was lost, the second request of a conditional write is refused because of the first: the caller has to
        /// know that there was one.
        private func willSend() -> Bool {
            attempts += 1
            guard attempts == 1 || isSafe else {
                failure = HTTPFailure.closed
                return false
            }
            return true
        }

        /// One line of a head, its end included. libcurl also calls for lines that follow the body.
        private func header(_ bytes: UnsafeRawBufferPointer) -> Bool {
            loop.hasReceived = true
            headBytes += bytes.count
            guard headBytes <= HTTPHead.limit else {
                failure = HTTPFailure.tooManyHeaders
                return false
            }
            guard !hasHead else { return true }
            let line = String(decoding: bytes, as: UTF8.self).trimmed
            if let begun = HTTPHead(statusLine: line) {
                head = begun
            } else if line.isEmpty {
                guard let complete = head, !complete.isInterim else { return true }
                hasHead = true
                if complete.status == 407, let proxy {
                    failure = HTTPFailure.proxy(.needsPassword, proxy)
                    return false
                }
                exchange.receive(complete)
            } else {
                head?.add(line: line)
            }
            return true
        }

        private func write(_ bytes: UnsafeRawBufferPointer) -> HTTPExchange.Reception {
            loop.hasReceived = true
            return exchange.receive(bytes)
        }

        private func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int? {
            switch body {
            case .none: return 0
            case .bytes(let bytes):
                let rest = bytes[Int(sent)...].prefix(buffer.count)
                buffer.copyBytes(from: rest)
                sent += Int64(rest.count)
                return rest.count
            case .file(let slice):
                do {
                    let count = try slice.read(into: buffer, at: sent)
                    sent += Int64(count)
                    return count
                } catch {
                    failure = error
                    return nil
                }
            }
        }

        // MARK: The end

        /// What the transfer ends with, before its handle is removed.
        func outcome(_ result: CURLcode) -> Result<Void, any Error> {
            if let failure { return .failure(failure) }
            guard result != CURLE_OK else { return .success(()) }
            let words = String(cString: words).lowercased()
            return .failure(CurlFailure(handle: handle, words: words, hasHead: hasHead, proxy: proxy).failure(result))
        }
    }
#endif
