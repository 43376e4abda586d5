internal import LiteVaultRepository
package import LiteVaultSystem

/// Why a connection to a server ended.
package struct SFTPLost: Error, Sendable {
    package enum Reason: Sendable, Equatable {
        /// The program that connects could not be started.
        case start(String)
        /// The program ended, or closed its output.
        case ended(ChildProcess.Ending?)
        /// The server did not answer in time.
        case silent
        /// What arrived is not the protocol; its first bytes as text.
        case malformed(String)
        /// This process closed it.
        case closed
    }

    package let reason: Reason
    /// What the program wrote on standard error: its last lines.
    package let output: String
    /// Whether the server had answered anything.
    package let wasEstablished: Bool
}

/// A process that speaks SFTP on its standard input and output, and the thread that serves it.
///
/// Requests may be under way in any number; answers are matched by their numbers. Once the connection has failed, all requests
/// fail with the same ``SFTPLost``. The process ends with this object.
package final class SFTPChannel: Sendable {
    private let pump: SFTPPump

    /// Starts the process. It leads a group of its own: an interrupt of the terminal does not reach it.
    ///
    /// - Parameters:
    ///   - command: for `/bin/sh -c`.
    ///   - timeout: how long the server may be silent while a request is under way. Less than
    ///     ``ReadLimits/bytesPerSecond`` is silence.
    /// - Throws: ``SFTPLost`` if it cannot be started.
    package init(_ command: String, timeout: Duration) throws {
        do {
            pump = try SFTPPump(command, timeout: timeout)
        } catch let error as SystemError {
            throw SFTPLost(reason: .start(error.description), output: "", wasEstablished: false)
        }
        let pump = pump
        SystemThread.start { pump.run() }
    }

    deinit { pump.close() }

    /// Whether requests can still succeed.
    package var isOpen: Bool { pump.isOpen }

    /// Begins the protocol, and returns the answer: version and extensions.
    package func begin() async throws -> SFTPReader {
        var packet = SFTPWriter(SFTPKind.initialize)
        packet.add(UInt32(3))
        let answer = try await pump.send(packet.bytes, number: nil)
        guard answer.kind == SFTPKind.version else { throw SFTPMalformed() }
        return answer.reader
    }

    /// Makes a request, and returns the answer to it.
    ///
    /// - Parameters:
    ///   - kind: the request's number in the protocol.
    ///   - size: about how many bytes `fill` adds.
    ///   - fill: adds what follows the request's number.
    /// - Throws: ``SFTPLost``, or `CancellationError` at once if the task is cancelled. The server may have done it then.
    package func request(
        _ kind: UInt8, reserving size: Int = 256, _ fill: (inout SFTPWriter) -> Void
    ) async throws -> SFTPAnswer {
        let number = pump.nextNumber()
        return try await pump.send(Self.packet(kind, number, size, fill), number: number)
    }

    /// Makes a request whose answer does not matter, and does not wait.
    package func post(_ kind: UInt8, _ fill: (inout SFTPWriter) -> Void) {
        let number = pump.nextNumber()
        pump.post(Self.packet(kind, number, 256, fill), number: number)
    }

    private static func packet(_ kind: UInt8, _ number: UInt32, _ size: Int, _ fill: (inout SFTPWriter) -> Void)
        -> [UInt8]
    {
        var packet = SFTPWriter(kind, reserving: size)
        packet.add(number)
        fill(&packet)
        return packet.bytes
    }
}

/// The streams of the process, and the requests under way.
private final class SFTPPump: Sendable {
    private typealias Waiter = CheckedContinuation<SFTPAnswer, any Error>

    private struct State {
        var outgoing: [[UInt8]] = []
        /// The requests under way, by number; without a waiter if nobody wants the answer any more.
        var waiting: [Int64: Waiter?] = [:]
        var number: UInt32 = 0
        var lost: SFTPLost?
        var isClosing = false
    }

    /// The number in `waiting` of the first request, which has none in the protocol.
    private static let first: Int64 = -1

    private let state = Locked(State())
    private let process: ChildProcess
    private let data: StreamPair
    private let messages: StreamPair
    private let wake: StreamPair
    private let timeout: Duration

    init(_ command: String, timeout: Duration) throws {
        self.timeout = timeout
        (data, messages, wake) = (try StreamPair(), try StreamPair(), try StreamPair())
        var shell = ShellCommand(command)
        shell.input = .descriptor(data.child)
        shell.output = .descriptor(data.child)
        shell.error = .descriptor(messages.child)
        shell.leadsGroup = true
        process = try shell.spawn()
        data.closeChild()
        messages.closeChild()
    }

    private var stream: Int32 { data.own }
    private var errors: Int32 { messages.own }

    var isOpen: Bool { state.withLock { $0.lost == nil && !$0.isClosing } }

    func nextNumber() -> UInt32 {
        state.withLock { state in
            state.number &+= 1
            return state.number
        }
    }

    func send(_ packet: [UInt8], number: UInt32?) async throws -> SFTPAnswer {
        let key = number.map(Int64.init) ?? Self.first
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let failure: (any Error)? = state.withLock { state in
                    if let lost = state.lost { return lost }
                    if Task.isCancelled { return CancellationError() }
                    state.waiting[key] = .some(continuation)
                    state.outgoing.append(packet)
                    return nil
                }
                if let failure { continuation.resume(throwing: failure) } else { signal() }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                guard let waiter = state.waiting[key] else { return Waiter?.none }
                state.waiting[key] = .some(nil)
                return waiter
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    func post(_ packet: [UInt8], number: UInt32) {
        let isSent = state.withLock { state in
            guard state.lost == nil else { return false }
            state.waiting[Int64(number)] = .some(nil)
            state.outgoing.append(packet)
            return true
        }
        if isSent { signal() }
    }

    func close() {
        state.withLock { $0.isClosing = true }
        signal()
    }

    private func signal() {
        let byte: [UInt8] = [0]
        // A full stream wakes the thread as well.
        _ = byte.withUnsafeBytes { StreamPair.send($0, to: wake.own) }
    }

    // What follows runs on the thread of the channel.

    func run() {
        var splitter = SFTPSplitter()
        var output: [UInt8] = []
        var wasEstablished = false
        let reason = serve(&splitter, &output, &wasEstablished)
        let ending = end(reason, &output)
        var final = reason
        if case .ended = reason { final = .ended(ending) }
        let text = String(decoding: output.suffix(4096), as: UTF8.self)
        let lost = SFTPLost(reason: final, output: text, wasEstablished: wasEstablished)
        let waiters = state.withLock { state in
            state.lost = lost
            state.outgoing = []
            defer { state.waiting = [:] }
            return state.waiting.values.compactMap(\.self)
        }
        for waiter in waiters { waiter.resume(throwing: lost) }
    }

    /// Sends and receives until the connection ends, and returns why.
    private func serve(
        _ splitter: inout SFTPSplitter, _ output: inout [UInt8], _ wasEstablished: inout Bool
    ) -> SFTPLost.Reason {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
        defer { buffer.deallocate() }
        var sending: [[UInt8]] = []
        var (index, sent) = (0, 0)
        var progress = ContinuousClock.now
        var isIdle = true
        // A closed stream is always ready: waiting for it would not wait.
        var hearsErrors = true
        while true {
            let (isClosing, isWaiting) = state.withLock { state in
                if index == sending.count {
                    (sending, index, sent) = (state.outgoing, 0, 0)
                    state.outgoing = []
                }
                return (state.isClosing, !state.waiting.isEmpty)
            }
            if isClosing, index == sending.count { return .closed }
            if isIdle || !isWaiting { progress = .now }
            isIdle = !isWaiting
            while index < sending.count {
                let count = sending[index].withUnsafeBytes {
                    StreamPair.send(UnsafeRawBufferPointer(rebasing: $0[sent...]), to: stream)
                }
                guard let count else { return .ended(nil) }
                if count == 0 { break }
                progress = Self.advanced(progress, by: count)
                sent += count
                if sent == sending[index].count { (index, sent) = (index + 1, 0) }
            }
            let quiet = ContinuousClock.now - progress
            if isWaiting, quiet > timeout { return .silent }
            let isWoken = wait(
                isFull: index < sending.count, hearsErrors: hearsErrors,
                seconds: isWaiting ? (timeout - quiet).seconds : 3600)
            // That end blocks: it is read only if there is something.
            if isWoken { _ = StreamPair.receive(into: buffer, from: wake.child) }
            if hearsErrors, let count = StreamPair.receive(into: buffer, from: errors) {
                output += UnsafeRawBufferPointer(rebasing: buffer[..<count])
                if output.count > 16384 { output.removeFirst(output.count - 8192) }
            } else {
                hearsErrors = false
            }
            guard let count = StreamPair.receive(into: buffer, from: stream) else { return .ended(nil) }
            if count == 0 { continue }
            progress = Self.advanced(progress, by: count)
            splitter.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            do {
                while let packet = try splitter.next() {
                    try dispatch(packet)
                    progress = .now
                    wasEstablished = true
                }
            } catch {
                return .malformed(splitter.rest)
            }
        }
    }

    /// When a server has last done something, after it has transferred that many bytes: they count for as long as they may take, so
    /// that a byte per second does not keep a connection alive.
    private static func advanced(_ progress: ContinuousClock.Instant, by bytes: Int) -> ContinuousClock.Instant {
        min(.now, progress + .seconds(Double(bytes) / Double(ReadLimits.bytesPerSecond)))
    }

    /// Waits until something can be done, and returns whether ``signal()`` was called.
    private func wait(isFull: Bool, hearsErrors: Bool, seconds: Double) -> Bool {
        var watched = [
            pollfd(fd: stream, events: Int16(POLLIN) | (isFull ? Int16(POLLOUT) : 0), revents: 0),
            pollfd(fd: hearsErrors ? errors : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake.child, events: Int16(POLLIN), revents: 0),
        ]
        _ = poll(&watched, nfds_t(watched.count), Int32(min(max(seconds * 1000, 0), 3_600_000)) + 1)
        return watched[2].revents != 0
    }

    private func dispatch(_ packet: [UInt8]) throws {
        var reader = SFTPReader(packet)
        let kind = try reader.byte()
        let key = kind == SFTPKind.version ? Self.first : Int64(try reader.number())
        let answer = SFTPAnswer(kind: kind, bytes: Array(packet.dropFirst(kind == SFTPKind.version ? 1 : 5)))
        guard let waiter = state.withLock({ $0.waiting.removeValue(forKey: key) }) else { throw SFTPMalformed() }
        if let waiter { return waiter.resume(returning: answer) }
        // Nobody waits for this handle any more.
        if kind == SFTPKind.answerHandle, var handles = try? answer.expecting(kind), let handle = try? handles.string()
        {
            let number = nextNumber()
            var close = SFTPWriter(SFTPKind.close)
            close.add(number)
            close.add(handle)
            post(close.bytes, number: number)
        }
    }

    /// Ends the process, and collects what it still writes on standard error.
    private func end(_ reason: SFTPLost.Reason, _ output: inout [UInt8]) -> ChildProcess.Ending? {
        shutdown(stream, Int32(SHUT_WR))
        // A program that ends by itself says why; one that is silent would not end.
        let patience: Duration =
            if case .ended = reason { .seconds(3) } else if reason == .closed { .seconds(3) } else {
                .milliseconds(100)
            }
        let deadline = Deadline(in: patience)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 14, alignment: 16)
        defer { buffer.deallocate() }
        while !deadline.isOver {
            let count = StreamPair.receive(into: buffer, from: errors)
            if let count { output += UnsafeRawBufferPointer(rebasing: buffer[..<count]) }
            _ = StreamPair.receive(into: buffer, from: stream)
            // A program may close that stream, and live on.
            if count == nil, process.hasEnded() { break }
            var watched = pollfd(fd: count == nil ? -1 : errors, events: Int16(POLLIN), revents: 0)
            if count ?? 0 == 0 { _ = poll(&watched, 1, 20) }
        }
        if deadline.isOver { process.signal(SIGKILL) }
        return try? process.wait()
    }
}
