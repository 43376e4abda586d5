internal import CSystem

/// The temporary files of this process, so that a program that is ended by a signal can remove them.
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

    /// Removes every registered file and SQLite's files beside it, and rejects new ones from now on: the caller is
    /// about to end the process. A file that was just published keeps its final name.
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

/// The name of a temporary file: `.NAME.litevault-PID-START-BOOT-NAMESPACE-RANDOM.tmp`, numbers in hexadecimal.
///
/// It identifies the file for people, and lets a later run determine whether its owner can still be alive.
package struct TemporaryName: Equatable, Sendable {
    /// The endings of the files that SQLite may create beside the file.
    package static let companions = ["-wal", "-journal", "-shm"]
    private static let marker = ".litevault-"
    private static let ending = ".tmp"

    package let name: String
    package let owner: ProcessIdentity

    package init(for destination: String, owner: ProcessIdentity = .current) {
        var generator = SystemRandomNumberGenerator()
        let numbers = [
            UInt64(UInt32(bitPattern: owner.process)), owner.start, UInt64(owner.boot), UInt64(owner.namespace),
            generator.next() & 0xFFFF_FFFF,
        ]
        let tail = Self.marker + numbers.map { String($0, radix: 16) }.joined(separator: "-") + Self.ending
        // File systems take 255 bytes; the longest companion must fit as well.
        let room = 255 - tail.utf8.count - 1 - "-journal".utf8.count
        var head = destination
        while head.utf8.count > room { head.removeLast() }
        name = "." + head + tail
        self.owner = owner
    }

    func belongs(to destination: String) -> Bool {
        let own = TemporaryName(for: destination, owner: owner).name
        guard let end = own.lastRange(ofText: Self.marker) else { return false }
        return name.starts(withText: String(own[..<end.upperBound]))
    }

    /// Nil unless `name` is exactly such a name.
    package init?(parsing name: String) {
        guard name.starts(withText: "."), name.ends(withText: Self.ending),
            let marker = name.lastRange(ofText: Self.marker)
        else {
            return nil
        }
        let end = name.utf8.index(name.endIndex, offsetBy: -Self.ending.utf8.count)
        guard marker.upperBound <= end else { return nil }
        let fields = name[marker.upperBound..<end].split(separator: "-", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { UInt64($0, radix: 16) }
        guard fields.count == 5, numbers.count == 5, let process = UInt32(exactly: numbers[0]),
            let boot = UInt32(exactly: numbers[2]), let namespace = UInt32(exactly: numbers[3])
        else { return nil }
        self.name = name
        owner = ProcessIdentity(
            process: Int32(bitPattern: process), start: numbers[1], boot: boot, namespace: namespace)
    }
}

/// Removes the temporary files that dead processes have left in a directory.
///
/// A living process holds an `flock` on its file, which the kernel drops however the process ends. So on file systems
/// of this machine alone the lock decides; elsewhere only the death of a process of this boot and this container
/// counts, and the rest stays. Our own files, and those of processes known to be alive, are not even opened.
struct StaleFileSweep {
    let directory: Directory

    /// Removes the files. Best effort: a file that cannot be examined or removed stays.
    func run() {
        for name in directory.names() {
            if let temporary = TemporaryName(parsing: name) {
                sweep(temporary)
            } else if let main = Self.mainFile(ofCompanion: name), main.owner.state != .alive, isMissing(main.name) {
                // A companion without its file: the owner ended between removing one and the other.
                directory.unlink(name)
            }
        }
    }

    /// Gives the largest file that a dead process has left for a destination another name.
    ///
    /// - Parameter other: the name; a file that has it is replaced, unless it is as large.
    /// - Returns: whether there is a file of that name now.
    func claim(for destination: String, as other: String) -> Bool {
        let known = (try? directory.metadata(other)) ?? nil
        let found = directory.names().compactMap { TemporaryName(parsing: $0) }
            .compactMap { temporary -> (temporary: TemporaryName, size: Int64)? in
                guard temporary.belongs(to: destination), let metadata = abandoned(temporary), metadata.linkCount == 1
                else { return nil }
                return (temporary, metadata.size)
            }
            .max { $0.size < $1.size }
        guard let found, found.size > known?.size ?? 0 else { return known?.kind == .regular }
        let name = found.temporary.name
        let at = directory.descriptor
        guard cfs_is_local(at) == 1 else {
            return found.temporary.owner.state == .dead && renameat(at, name, at, other) == 0
        }
        return withUnlocked(name) { renameat(at, name, at, other) == 0 } || known?.kind == .regular
    }

    /// The file's metadata; nil if its owner may be alive, or it is not ours.
    private func abandoned(_ temporary: TemporaryName) -> FileMetadata? {
        guard temporary.owner.state != .alive, let metadata = try? directory.metadata(temporary.name),
            metadata.kind == .regular, geteuid() == 0 || metadata.owner == geteuid()
        else { return nil }
        return metadata
    }

    private func sweep(_ temporary: TemporaryName) {
        let state = temporary.owner.state
        guard let metadata = abandoned(temporary) else { return }
        // If a rename without replacing had to be done with a second link, the file may by now be a database under its
        // final name. It must not be opened then; removing the second name is what its owner was about to do.
        if metadata.linkCount > 1 {
            if state == .dead { remove(temporary.name) }
        } else if cfs_is_local(directory.descriptor) == 1 {
            // The lock decides, whatever is known of the owner.
            _ = withUnlocked(temporary.name) { remove(temporary.name) }
        } else if state == .dead {
            // Locks of other machines do not show here.
            remove(temporary.name)
        }
    }

    /// Runs `body` while nobody else has the file locked.
    private func withUnlocked(_ name: String, _ body: () -> Bool) -> Bool {
        let file = openat(directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        // The lock goes with the descriptor. An owner that lost the race notices that its file no longer has a name.
        defer { close(file) }
        return FileLock.isTaken(file) && body()
    }

    @discardableResult
    private func remove(_ name: String) -> Bool {
        for companion in TemporaryName.companions { directory.unlink(name + companion) }
        return directory.unlink(name)
    }

    private func isMissing(_ name: String) -> Bool {
        do { return try directory.metadata(name) == nil } catch { return false }
    }

    private static func mainFile(ofCompanion name: String) -> TemporaryName? {
        guard let ending = TemporaryName.companions.first(where: { name.ends(withText: $0) }) else { return nil }
        return TemporaryName(parsing: String(Substring(name.utf8.dropLast(ending.utf8.count))))
    }
}
