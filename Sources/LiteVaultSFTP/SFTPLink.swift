internal import LiteVaultCapture
internal import LiteVaultSystem

/// The connection of a store: made with the first request, and again after it was lost.
actor SFTPLink {
    private nonisolated let settings: SFTPSettings
    private nonisolated let retries: RetryBudget
    private var session: SFTPSession?
    private var connecting: Task<SFTPSession, any Error>?

    init(_ settings: SFTPSettings) {
        self.settings = settings
        retries = RetryBudget(
            settings.retryTimeLimit, attempts: settings.attempts, firstPause: settings.firstPause)
    }

    private func current() async throws -> SFTPSession {
        if let session, session.isOpen { return session }
        session = nil
        if let connecting { return try await Self.value(of: connecting) }
        let (command, timeout) = (settings.shellCommand, settings.timeout)
        let task = Task { try await SFTPSession.connect(command, timeout: timeout) }
        connecting = task
        defer { connecting = nil }
        let made = try await Self.value(of: task)
        session = made
        return made
    }

    /// The connection that is being made. A caller that is cancelled ends the attempt; the others begin a new one.
    private static func value(of task: Task<SFTPSession, any Error>) async throws -> SFTPSession {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    private func drop(_ failed: SFTPSession) {
        if session === failed { session = nil }
    }

    /// Runs `body` with a connection. After a lost connection, it is run again with a new one: its requests have to bear that.
    ///
    /// - Parameter path: what the requests are about, for errors.
    /// - Throws: `VaultError` when the server refuses a request, or cannot be reached.
    nonisolated func perform<T>(_ path: String, _ body: (SFTPSession) async throws -> T) async throws -> T {
        var number = 1
        while true {
            let begin = ContinuousClock.now
            var used: SFTPSession?
            let lost: SFTPLost
            do {
                let session = try await current()
                used = session
                let result = try await body(session)
                retries.succeeded()
                return result
            } catch is CancellationError where !Task.isCancelled {
                continue
            } catch let status as SFTPStatus {
                throw status.vaultError(path)
            } catch let error as SFTPLost {
                lost = error
            } catch is SFTPMalformed {
                lost = SFTPLost(reason: .malformed(""), output: "", wasEstablished: used != nil)
            }
            if let used { await drop(used) }
            try Task.checkCancellation()
            guard !lost.isPermanent, try await retries.pause(after: number, since: begin) else {
                throw lost.vaultError(path, settings, attempts: number)
            }
            number += 1
        }
    }
}
