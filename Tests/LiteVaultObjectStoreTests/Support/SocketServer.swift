import Foundation
import LiteVaultSystem

/// A server on a plain socket, with a thread for each connection, that does what a test says: also what no HTTP server would.
final class SocketServer: Sendable {
    let port: Int
    private let listener: Int32
    private let peers = Locked<[Peer]>([])

    /// Listens on a free port.
    ///
    /// - Parameters:
    ///   - host: 127.0.0.1 or another IPv4 address of this machine, or ::1.
    ///   - serve: called for each connection, which is closed when it returns. Its second argument counts connections from 0.
    /// - Returns: nil if this machine does not have the address.
    init?(host: String = "127.0.0.1", _ serve: @escaping @Sendable (Peer, Int) -> Void) {
        guard let (listener, port) = Self.listen(host) else { return nil }
        (self.listener, self.port) = (listener, port)
        let peers = peers
        SystemThread.start {
            while true {
                let descriptor = accept(listener, nil, nil)
                guard descriptor >= 0 else { break }
                let peer = Peer(descriptor)
                let number = peers.withLock { all in
                    all.append(peer)
                    return all.count - 1
                }
                SystemThread.start {
                    serve(peer, number)
                    peer.close()
                }
            }
            close(listener)
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        for peer in peers.value { peer.hangUp() }
    }

    /// How many connections there were.
    var connections: Int { peers.withLock { $0.count } }

    var url: String { "http://127.0.0.1:\(port)/" }

    private static func listen(_ host: String) -> (Int32, Int)? {
        let isNew = host.contains(":")
        let listener = socket(isNew ? AF_INET6 : AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var size = socklen_t(isNew ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
        var storage = sockaddr_storage()
        let isBound = withUnsafeMutableBytes(of: &storage) { bytes -> Bool in
            guard let base = bytes.baseAddress else { return false }
            if isNew {
                let address = base.assumingMemoryBound(to: sockaddr_in6.self)
                address.pointee.sin6_family = sa_family_t(AF_INET6)
                inet_pton(AF_INET6, host, &address.pointee.sin6_addr)
            } else {
                let address = base.assumingMemoryBound(to: sockaddr_in.self)
                address.pointee.sin_family = sa_family_t(AF_INET)
                inet_pton(AF_INET, host, &address.pointee.sin_addr)
            }
            let general = base.assumingMemoryBound(to: sockaddr.self)
            return bind(listener, general, size) == 0 && Glibc.listen(listener, 64) == 0
                && getsockname(listener, general, &size) == 0
        }
        guard isBound else {
            close(listener)
            return nil
        }
        let port = withUnsafeBytes(of: &storage) { UInt16(bigEndian: $0.load(fromByteOffset: 2, as: UInt16.self)) }
        return (listener, Int(port))
    }
}

/// The other end of a connection.
final class Peer: Sendable {
    private let descriptor: Int32
    private let isOpen = Locked(true)

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    /// Reads up to the empty line that ends a head; nil at the end of the connection.
    func head() -> String? {
        var bytes: [UInt8] = []
        while !bytes.suffix(4).elementsEqual([13, 10, 13, 10]) {
            guard let byte = read(1)?.first, bytes.count < 1 << 20 else { return nil }
            bytes.append(byte)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Reads a request with its body, whose length must be in the head; nil at the end of the connection.
    func request() -> (head: String, body: [UInt8])? {
        guard let head = head() else { return nil }
        let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
        return read(length ?? 0).map { (head, $0) }
    }

    /// Reads this many bytes; nil if the connection ends before.
    func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var done = 0
        while done < count {
            let read = bytes.withUnsafeMutableBytes { buffer in
                recv(descriptor, buffer.baseAddress?.advanced(by: done), count - done, 0)
            }
            guard read > 0 else { return nil }
            done += read
        }
        return bytes
    }

    /// Sends all bytes.
    ///
    /// - Returns: false if the connection is closed.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        var done = 0
        while done < bytes.count {
            let sent = bytes.withUnsafeBytes { buffer in
                Glibc.send(descriptor, buffer.baseAddress?.advanced(by: done), bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard sent > 0 else { return false }
            done += sent
        }
        return true
    }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    /// Sends an answer with a body.
    @discardableResult
    func answer(_ status: String = "200 OK", _ body: String = "", _ headers: String = "") -> Bool {
        send("HTTP/1.1 \(status)\r\n\(headers)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    /// Waits until the other side closes, and passes over what it sends.
    func waitForEnd() { while read(1) != nil {} }

    /// Ends the connection for the thread that serves it.
    func hangUp() { isOpen.withLock { if $0 { shutdown(descriptor, Int32(SHUT_RDWR)) } } }

    /// Resets the connection when it is closed: what was not read is lost.
    func close() {
        isOpen.withLock { isOpen in
            if isOpen { Glibc.close(descriptor) }
            isOpen = false
        }
    }
}

/// What a test's threads note down.
final class Notes<Value: Sendable>: Sendable {
    private let values = Locked<[Value]>([])

    func add(_ value: Value) { values.withLock { $0.append(value) } }

    var all: [Value] { values.value }

    /// Waits until a condition holds; false after ten minutes.
    func wait(until isReached: ([Value]) -> Bool) async throws -> Bool {
        let end = ContinuousClock.now + .seconds(600)
        while ContinuousClock.now < end {
            if isReached(all) { return true }
            try await Task.sleep(for: .milliseconds(5))
        }
        return false
    }
}
