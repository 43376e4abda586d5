internal import CSystem
internal import LiteVaultSchedule
internal import LiteVaultSystem

/// A server for a few small answers to requests by HTTP, on one thread of its own.
///
/// Nothing waits for it, and it waits for no client: one that is slow, says too much or says nothing is left when its time is over, or
/// when another one needs its place. Each connection has one request and one response.
final class MonitoringServer: Sendable {
    /// How long a request may take to arrive, and its response to be taken, in seconds.
    private static let patience = 5.0
    /// The most connections at a time. Followers need most of a process's descriptors.
    private static let limit = 16
    /// The most bytes that are read of what follows a request. A connection that is closed while more arrives is reset, and the client may lose
    /// the response.
    private static let restLimit = 1 << 16

    let address: ListenAddress
    private let answer: Locked<@Sendable (HTTPRequest) -> HTTPResponse>
    /// Whether it is to end, and whether it has.
    private let ending = Locked((isAsked: false, isOver: false))

    /// Listens, and starts to answer.
    ///
    /// - Parameter answer: called on the server's thread for each request of method GET or HEAD.
    /// - Throws: ``Failure`` if the address cannot be had: another program has it, this machine does not, or the user may not.
    init(_ address: ListenAddress, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) throws {
        self.address = address
        self.answer = Locked(answer)
        let listener = cps_listen(address.host, address.port)
        guard listener >= 0 else { throw Self.failure(errno, address) }
        SystemThread.start { [self] in
            serve(listener)
            close(listener)
            ending.withLock { $0.isOver = true }
        }
    }

    /// Answers in another way from now on.
    func set(answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) { self.answer.withLock { $0 = answer } }

    /// Stops listening. When it returns, the address is free, unless an answer takes seconds.
    func end() {
        ending.withLock { $0.isAsked = true }
        for _ in 0..<100 where !ending.withLock({ $0.isOver }) { SystemThread.sleep(seconds: 0.02) }
    }

    /// A connection, from its first byte to its last.
    private struct Connection {
        let socket: Int32
        var deadline: Double
        var received: [UInt8] = []
        /// What is left to send; nil until there is a response.
        var response: ArraySlice<UInt8>?
        /// The bytes that were read since the response was sent.
        var rest = 0
        var isOver = false

        var events: Int16 { Int16(response?.isEmpty == false ? POLLOUT : POLLIN) }
    }

    private func serve(_ listener: Int32) {
        var connections: [Connection] = []
        defer { for connection in connections { close(connection.socket) } }
        while !ending.withLock({ $0.isAsked }) {
            var waiting = [pollfd(fd: listener, events: Int16(POLLIN), revents: 0)]
            waiting += connections.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
            guard poll(&waiting, nfds_t(waiting.count), 200) >= 0 || errno == EINTR else {
                SystemThread.sleep(seconds: 0.2)
                continue
            }
            let now = ProcessInfo.processInfo.systemUptime
            for (index, one) in waiting.dropFirst().enumerated() {
                if one.revents != 0 { advance(&connections[index], now) }
                if now > connections[index].deadline { connections[index].isOver = true }
            }
            for connection in connections where connection.isOver { close(connection.socket) }
            connections.removeAll(where: \.isOver)
            if waiting[0].revents != 0 { accept(listener, &connections, now) }
        }
    }

    /// Takes a new connection. The one that has been there for the longest time makes room.
    private func accept(_ listener: Int32, _ connections: inout [Connection], _ now: Double) {
        let socket = cps_accept(listener)
        guard socket >= 0 else {
            // Without descriptors, the next attempt would fail at once, and the next.
            if errno != EAGAIN, errno != EINTR, errno != ECONNABORTED { SystemThread.sleep(seconds: 0.1) }
            return
        }
        if connections.count >= Self.limit { close(connections.removeFirst().socket) }
        connections.append(Connection(socket: socket, deadline: now + Self.patience))
    }

    /// Reads what has arrived, or sends what is taken.
    private func advance(_ connection: inout Connection, _ now: Double) {
        if let response = connection.response, !response.isEmpty {
            guard let sent = response.withUnsafeBytes({ StreamPair.send($0, to: connection.socket) }) else {
                connection.isOver = true
                return
            }
            connection.response = response.dropFirst(sent)
            if sent == response.count { shutdown(connection.socket, Int32(SHUT_WR)) }
            return
        }
        var buffer = [UInt8](repeating: 0, count: 4096)
        guard let count = buffer.withUnsafeMutableBytes({ StreamPair.receive(into: $0, from: connection.socket) })
        else {
            connection.isOver = true
            return
        }
        guard connection.response == nil else {
            connection.rest += count
            if connection.rest > Self.restLimit { connection.isOver = true }
            return
        }
        connection.received += buffer.prefix(count)
        guard let response = response(to: connection.received) else { return }
        connection.response = response[...]
        connection.received = []
        connection.deadline = now + Self.patience
    }

    /// The bytes of the response; nil until the request has arrived.
    private func response(to bytes: [UInt8]) -> [UInt8]? {
        do throws(HTTPRequest.Refusal) {
            guard let request = try HTTPRequest.parse(bytes) else { return nil }
            guard request.method == "GET" || request.method == "HEAD" else {
                return HTTPResponse(405, "Only GET and HEAD are answered.\n", allow: "GET, HEAD").bytes(isHead: false)
            }
            return answer.value(request).bytes(isHead: request.method == "HEAD")
        } catch {
            switch error {
            case .malformed: return HTTPResponse(400, "This is not a request of HTTP/1.\n").bytes(isHead: false)
            case .tooLong:
                return HTTPResponse(431, "The request has more than \(HTTPRequest.limit) bytes.\n").bytes(isHead: false)
            }
        }
    }

    private static func failure(_ code: Int32, _ address: ListenAddress) -> Failure {
        let what = "cannot serve health and metrics at \(address): "
        switch code {
        case EADDRINUSE:
            return Failure(
                .busy, what + "another program listens there",
                remedy: "Give another port ('listen' or --listen), or end that program: 'ss -ltnp' names it.")
        case EADDRNOTAVAIL:
            return Failure(
                .config, what + "this machine does not have the address",
                remedy: "'ip address' lists those that it has. A port alone serves this machine.")
        case EACCES, EPERM:
            return Failure(.config, what + "permission denied", remedy: "Choose a port from 1024 on.")
        default: return Failure(.inputOutput, what + SystemError(code: code).description)
        }
    }
}
