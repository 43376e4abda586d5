internal import LiteVaultSystem

/// What passes between the thread that receives an answer and the task that reads it: the head, then chunks of the body.
///
/// The body waits in a buffer. While it is full, the receiving side pauses, and the sender with it.
final class HTTPExchange: Sendable {
    /// The side that receives.
    protocol Source: AnyObject, Sendable {
        /// Continues to receive after the buffer was full.
        func resume()
        /// Ends the request. It may have ended already.
        func cancel()
    }

    /// What the receiving side is to do with bytes.
    enum Reception {
        case taken
        /// They are offered again after `resume()`.
        case full
        /// Nobody wants them.
        case unwanted
    }

    private struct State {
        var source: (any Source)?
        var headReader: CheckedContinuation<HTTPHead, any Error>?
        var bytes: [UInt8] = []
        var isPaused = false
        /// The most bytes, for a reader that wants all of them at once.
        var limit: Int?
        var bodyReader: CheckedContinuation<Void, Never>?
        var isCancelled = false
        var outcome: Result<Void, any Error>?
    }

    private let state = Locked(State())

    /// Bytes from which on the sender waits.
    private static let capacity = 1 << 20

    // MARK: The task

    /// Waits for the head.
    ///
    /// - Parameter start: begins to receive; called once.
    func head(_ source: any Source, start: () -> Void) async throws -> HTTPHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                let isCancelled = state.withLock { state in
                    guard !state.isCancelled else { return true }
                    (state.source, state.headReader) = (source, reader)
                    return false
                }
                if isCancelled { reader.resume(throwing: CancellationError()) } else { start() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for more of the body, and puts it in the place of what `chunk` has. The memory of `chunk` is used again.
    ///
    /// - Returns: false at the end.
    func next(_ chunk: inout [UInt8]) async throws -> Bool {
        while true {
            chunk.removeAll(keepingCapacity: true)
            let (outcome, paused) = state.withLock { state in
                guard !state.bytes.isEmpty else { return (state.outcome, (any Source)?.none) }
                swap(&chunk, &state.bytes)
                defer { state.isPaused = false }
                return (nil, state.isPaused ? state.source : nil)
            }
            paused?.resume()
            if !chunk.isEmpty { return true }
            if let outcome {
                try outcome.get()
                return false
            }
            await wait { !$0.bytes.isEmpty }
        }
    }

    /// Waits for the end of the body.
    ///
    /// - Throws: `HTTPResponse.TooLarge` for more than `limit` bytes.
    func all(upTo limit: Int, expected: Int) async throws -> [UInt8] {
        let paused = state.withLock { state in
            state.limit = limit
            // What a server announces is not allocated in advance without a bound.
            state.bytes.reserveCapacity(min(expected, Self.capacity))
            defer { state.isPaused = false }
            return state.isPaused ? state.source : nil
        }
        paused?.resume()
        await wait { $0.outcome != nil || $0.bytes.count > limit }
        let (bytes, outcome) = state.withLock { state in
            var bytes: [UInt8] = []
            swap(&bytes, &state.bytes)
            return (bytes, state.outcome)
        }
        guard bytes.count <= limit else {
            cancel()
            throw HTTPResponse.TooLarge()
        }
        try outcome?.get()
        return bytes
    }

    /// Waits until a condition holds, or everything has ended.
    private func wait(until isReached: (State) -> Bool) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { reader in
                let isReached = state.withLock { state in
                    if state.outcome != nil || isReached(state) { return true }
                    state.bodyReader = reader
                    return false
                }
                if isReached { reader.resume() }
            }
        } onCancel: {
            cancel()
        }
    }

    /// Ends the request. What has arrived is not read any more.
    func cancel() {
        end(with: .failure(CancellationError())) { $0.isCancelled = true }
    }

    // MARK: The receiving side

    /// Whether nothing more is to be received.
    var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    func receive(_ head: HTTPHead) {
        let reader = state.withLock { state in
            defer { state.headReader = nil }
            return state.headReader
        }
        reader?.resume(returning: head)
    }

    func receive(_ bytes: UnsafeRawBufferPointer) -> Reception {
        let (reception, reader) = state.withLock { state -> (Reception, CheckedContinuation<Void, Never>?) in
            if state.outcome != nil { return (.unwanted, nil) }
            if state.limit == nil, state.bytes.count >= Self.capacity {
                state.isPaused = true
                return (.full, nil)
            }
            state.bytes.append(contentsOf: bytes)
            if let limit = state.limit {
                guard state.bytes.count > limit else { return (.taken, nil) }
            }
            defer { state.bodyReader = nil }
            return (.taken, state.bodyReader)
        }
        reader?.resume()
        return reception
    }

    /// The last call: everything was received, or nothing more comes.
    func end(with outcome: Result<Void, any Error>) { end(with: outcome) { _ in } }

    private func end(with outcome: Result<Void, any Error>, _ change: (inout State) -> Void) {
        var (head, body) = (CheckedContinuation<HTTPHead, any Error>?.none, CheckedContinuation<Void, Never>?.none)
        var source: (any Source)?
        state.withLock { state in
            change(&state)
            guard state.outcome == nil else { return }
            state.outcome = outcome
            if state.isCancelled {
                state.bytes = []
                source = state.source
            }
            swap(&head, &state.headReader)
            swap(&body, &state.bodyReader)
            state.source = nil
        }
        source?.cancel()
        body?.resume()
        guard let head else { return }
        switch outcome {
        case .success: head.resume(throwing: HTTPFailure.notHTTP)
        case .failure(let error): head.resume(throwing: error)
        }
    }
}
