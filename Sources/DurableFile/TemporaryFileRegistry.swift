internal import Foundation

/// The temporary files that this process has under way, so that a program ended by a signal can remove them.
///
/// ``removeAll()`` is plain Swift with a lock: call it from a dispatch source or a thread that waits for signals,
/// never from a signal handler itself.
package final class TemporaryFileRegistry: @unchecked Sendable {
    package static let shared = TemporaryFileRegistry()

    private let lock = NSLock()
    private var paths: Set<String> = []
    private var isClosed = false

    package init() {}

    /// Removes every registered file, with what SQLite has put beside it, and refuses new ones from now on: the caller
    /// is about to end the process. A file that was just published keeps its final name.
    package func removeAll() {
        lock.lock()
        defer { lock.unlock() }
        isClosed = true
        for path in paths {
            for companion in TemporaryName.companions { unlink(path + companion) }
            unlink(path)
        }
        paths = []
    }

    /// The paths registered now.
    package var current: Set<String> {
        lock.lock()
        defer { lock.unlock() }
        return paths
    }

    /// Creates a file and registers it in one step, so that no signal finds it unregistered.
    func create(_ path: String, _ body: () throws(DurableFileError) -> Int32) throws(DurableFileError) -> Int32 {
        lock.lock()
        defer { lock.unlock() }
        if isClosed { throw DurableFileError(.shuttingDown, operation: "open", path: path) }
        let descriptor = try body()
        paths.insert(path)
        return descriptor
    }

    func forget(_ path: String) {
        lock.lock()
        defer { lock.unlock() }
        paths.remove(path)
    }
}
