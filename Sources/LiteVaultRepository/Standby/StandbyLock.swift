internal import LiteVaultCapture
internal import LiteVaultFoundation
internal import LiteVaultSystem

/// Keeps other standbys and promotions away from a destination, as long as it exists.
final class StandbyLock: Sendable {
    private let file: LocalFile

    /// Takes the lock.
    ///
    /// - Throws: `VaultError` `busy`.
    init(_ destination: String) throws {
        file = try LocalFile.openingOrCreating(Self.path(destination))
        guard try file.tryLock() else {
            throw VaultError(
                .busy, "another standby keeps it current", path: destination, remedy: "End that one first.")
        }
    }

    /// Takes the lock, when the process that has it has ended.
    ///
    /// - Parameter patience: how many seconds to wait.
    /// - Throws: `VaultError` `busy`.
    static func wait(_ destination: String, patience: Double) async throws -> StandbyLock {
        let deadline = Deadline(seconds: patience)
        while true {
            do {
                return try StandbyLock(destination)
            } catch let error as VaultError where error.code == .busy && !deadline.isOver {
                try await Task.sleep(nanoseconds: 20_000_000)
            }
        }
    }

    static func path(_ destination: String) -> String { destination + ".standby-lock" }
}

/// Asks the process that keeps a standby current to end, because the standby is about to be promoted.
///
/// It is a file beside the destination that the promoting process has locked: what a killed one leaves asks for nothing.
final class HandOverRequest {
    private let file: LocalFile

    private static func path(_ destination: String) -> String { destination + ".standby-promote" }

    /// Makes the request.
    ///
    /// - Throws: `VaultError` `busy` if another process promotes it.
    init(_ destination: String) throws {
        file = try LocalFile.openingOrCreating(Self.path(destination))
        // A standby that looks whether it is locked takes the lock for a moment.
        for attempt in 0..<50 {
            if try file.tryLock() { return }
            if attempt < 49 { SystemThread.sleep(seconds: 0.01) }
        }
        throw VaultError(.busy, "another process is promoting it", path: destination, remedy: "Wait for that one.")
    }

    deinit { unlink(file.path) }

    /// Whether a process asks for the destination.
    static func exists(for destination: String) -> Bool {
        let path = path(destination)
        guard access(path, F_OK) == 0, let file = try? LocalFile(updating: path) else { return false }
        return (try? file.tryLock()) == false
    }
}

extension Standby {
    /// Whether another process is about to promote a destination, and waits for its standby to end. For those that call ``update()`` in a loop
    /// of their own.
    public static func isHandOverRequested(for destination: String) -> Bool {
        HandOverRequest.exists(for: destination)
    }
}
