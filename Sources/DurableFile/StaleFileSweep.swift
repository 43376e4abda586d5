internal import CFileSupport
internal import Foundation

/// Removes temporary files that dead processes have left in a directory.
///
/// A living process holds an `flock` on its file, which the kernel drops however the process ends. So on file systems
/// of this machine alone the lock decides; elsewhere only the death of a process of this boot and this container
/// counts, and the rest stays. Our own files, and those of processes known to be alive, are not even opened.
struct StaleFileSweep {
    let directory: Directory

    /// Best effort: a file that cannot be examined or removed stays. Returns the names removed.
    @discardableResult
    func run() -> [String] {
        var removed: [String] = []
        let names = directory.names()
        for name in names {
            if let temporary = TemporaryName(parsing: name) {
                if sweep(temporary) { removed.append(name) }
            } else if let main = Self.mainFile(ofCompanion: name), main.owner.state != .alive, isMissing(main.name) {
                // A companion without its file: the owner was ended between removing one and the other.
                directory.unlink(name)
            }
        }
        return removed
    }

    private func sweep(_ temporary: TemporaryName) -> Bool {
        let state = temporary.owner.state
        guard state != .alive, let metadata = try? directory.metadata(temporary.name), metadata.kind == .regular,
            geteuid() == 0 || metadata.owner == geteuid()
        else { return false }
        // Where a rename that does not replace had to be done with a second link, the file may by now be a database
        // under its final name. It must not be opened then; removing the second name is what its owner was about to do.
        if metadata.linkCount > 1 { return state == .dead && remove(temporary.name) }
        if cfs_is_local(directory.descriptor) == 1 { return removeUnlocked(temporary.name) }
        return state == .dead && remove(temporary.name)
    }

    private func removeUnlocked(_ name: String) -> Bool {
        let file = openat(directory.descriptor, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return false }
        // The lock goes with the descriptor. An owner that lost the race notices that its file has no name any more.
        defer { close(file) }
        return flock(file, LOCK_EX | LOCK_NB) == 0 && remove(name)
    }

    private func remove(_ name: String) -> Bool {
        for companion in TemporaryName.companions { directory.unlink(name + companion) }
        return directory.unlink(name)
    }

    private func isMissing(_ name: String) -> Bool {
        do { return try directory.metadata(name) == nil } catch { return false }
    }

    private static func mainFile(ofCompanion name: String) -> TemporaryName? {
        guard let ending = TemporaryName.companions.first(where: name.hasSuffix) else { return nil }
        return TemporaryName(parsing: String(name.dropLast(ending.count)))
    }
}
