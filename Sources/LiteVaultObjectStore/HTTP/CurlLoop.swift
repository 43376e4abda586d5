#if canImport(CCurl)
    internal import CCurl
    internal import LiteVaultSystem

    /// The thread on which libcurl works: one for the process, from the first request on.
    ///
    /// It sleeps in `curl_multi_poll` until a socket is ready, a time limit is reached, or a task asks for something.
    final class CurlLoop: @unchecked Sendable {  // all but the locks is used on the thread alone
        enum Command {
            case add(CurlTransfer)
            case resume(CurlTransfer)
            case cancel(CurlTransfer)
        }

        private struct Requests {
            var commands: [Command] = []
            var isExiting = false
        }

        /// nil if libcurl cannot be initialized: there is no memory.
        static let shared: CurlLoop? = {
            guard curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK, let multi = curl_multi_init() else {
                return nil
            }
            let loop = CurlLoop(multi)
            SystemThread.start { loop.run() }
            // OpenSSL cleans up when the process exits. Functions registered later run earlier.
            atexit { CurlLoop.shared?.park() }
            return loop
        }()

        private let multi: UnsafeMutableRawPointer
        private let requests = Locked(Requests())
        private let parking = Condition()
        private let isParked = Locked(false)
        private var running: [UnsafeMutableRawPointer: CurlTransfer] = [:]
        /// The connections' sockets. libcurl does not say which transfer uses which.
        var sockets: Set<CInt> = []
        /// Whether something has been received since the last acknowledgement.
        var hasReceived = false

        private static let keptConnections = 32

        private init(_ multi: UnsafeMutableRawPointer) {
            self.multi = multi
            _ = ccs_multi_set_number(multi, CURLMOPT_MAXCONNECTS, Self.keptConnections)
        }

        func ask(_ command: Command) {
            let isFirst = requests.withLock { requests in
                requests.commands.append(command)
                return requests.commands.count == 1
            }
            if isFirst { _ = curl_multi_wakeup(multi) }
        }

        private func run() {
            // Writing to a closed connection must not end the process, whatever version of libcurl does it.
            var signals = sigset_t()
            sigfillset(&signals)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            while true {
                let (commands, isExiting) = requests.withLock { requests in
                    var commands: [Command] = []
                    swap(&commands, &requests.commands)
                    return (commands, requests.isExiting)
                }
                if isExiting { break }
                commands.forEach(obey)
                var count: CInt = 0
                _ = curl_multi_perform(multi, &count)
                acknowledge()
                finish()
                _ = curl_multi_poll(multi, nil, 0, 600_000, nil)
            }
            parking.withLock {
                isParked.withLock { $0 = true }
                parking.signal()
            }
        }

        /// Acknowledges what has been read at once (`TCP_QUICKACK`).
        ///
        /// A server without `TCP_NODELAY`, as Ceph's gateway is by default, holds back what does not fill a segment until all before it is
        /// acknowledged: a short body after its head, or the end of a long one. The system would acknowledge 40 ms later, which is most of
        /// what a small request takes in a local network.
        private func acknowledge() {
            guard hasReceived, let option = Platform.quickAcknowledgement else { return }
            hasReceived = false
            var on: CInt = 1
            for socket in sockets {
                // The system forgets it. Where it fails, the system acknowledges later.
                setsockopt(socket, CInt(IPPROTO_TCP), option, &on, socklen_t(MemoryLayout<CInt>.size))
            }
        }

        private func obey(_ command: Command) {
            switch command {
            case .add(let transfer):
                // Cancelled before it came here.
                guard !transfer.exchange.hasEnded else { return }
                running[transfer.handle] = transfer
                if curl_multi_add_handle(multi, transfer.handle) != CURLM_OK { remove(transfer, CURLE_OUT_OF_MEMORY) }
            case .resume(let transfer):
                if running[transfer.handle] === transfer { _ = curl_easy_pause(transfer.handle, CURLPAUSE_CONT) }
            case .cancel(let transfer):
                if running[transfer.handle] === transfer { remove(transfer, CURLE_ABORTED_BY_CALLBACK) }
            }
        }

        /// Ends the transfers that are complete or have failed.
        private func finish() {
            var left: CInt = 0
            while let message = curl_multi_info_read(multi, &left) {
                guard message.pointee.msg == CURLMSG_DONE, let handle = message.pointee.easy_handle,
                    let transfer = running[handle]
                else { continue }
                remove(transfer, message.pointee.data.result)
            }
        }

        private func remove(_ transfer: CurlTransfer, _ result: CURLcode) {
            running[transfer.handle] = nil
            // What tells why it failed is gone with the handle's connection.
            let outcome = transfer.outcome(result)
            _ = curl_multi_remove_handle(multi, transfer.handle)
            transfer.exchange.end(with: outcome)
        }

        /// Stops the thread, and waits for that: the process is about to exit, and the TLS library with it.
        private func park() {
            requests.withLock { $0.isExiting = true }
            _ = curl_multi_wakeup(multi)
            parking.withLock {
                // A file on a network may take long to read; the exit does not.
                let deadline = Deadline(seconds: 2)
                while !isParked.value, !deadline.isOver {
                    _ = parking.wait(seconds: max(0.01, deadline.remaining.seconds))
                }
            }
        }
    }
#endif
