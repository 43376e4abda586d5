internal import Foundation
internal import LiteVaultSupport

/// The temporary files that this process has under way, so that a program ended by a signal can remove them.
///
/// ``removeAll()`` is plain Swift with a lock: call it from a dispatch source or a thread that waits for signals,
/// never from a signal handler itself.
package final class TemporaryFileRegistry: Sendable {
    package static let shared = TemporaryFileRegistry()

    private struct State {
        var paths: Set<String> = []
        var isClosed = false
    }

    private let state = Locked(State())

    package init() {}

    /// Removes every registered file, with what SQLite has put beside it, and refuses new ones from now on: the caller
    /// is about to end the process. A file that was just published keeps its final name.
    package func removeAll() {
        state.withLock { state in
            state.isClosed = true
            for path in state.paths {
                for companion in TemporaryName.companions { unlink(path + companion) }
                unlink(path)
            }
            state.paths = []
        }
    }

    /// The paths registered now.
    package var current: Set<String> { state.withLock { $0.paths } }

    /// Creates a file and registers it in one step, so that no signal finds it unregistered.
    func create(_ path: String, _ body: () throws(DurableFileError) -> Int32) throws(DurableFileError) -> Int32 {
        try state.withLock { state throws(DurableFileError) in
            if state.isClosed { throw DurableFileError(.shuttingDown, operation: "open", path: path) }
            let descriptor = try body()
            state.paths.insert(path)
            return descriptor
        }
    }

    func forget(_ path: String) { state.withLock { _ = $0.paths.remove(path) } }
}
