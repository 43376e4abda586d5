internal import CFileSupport
internal import Foundation
internal import LiteVaultSupport

/// A file in the making: written under a temporary name in its destination's directory, mode 0600, and given its final
/// name only once it is complete and durable.
///
/// Whoever writes it opens ``path`` (SQLite does) and closes it again before ``publish(replacing:like:beforeRename:)``.
/// While the temporary exists this object holds one descriptor of it, with an `flock` that tells sweeping processes
/// that its owner lives. Closing any descriptor of a file drops the POSIX locks that SQLite holds on it in this process,
/// so between creation and publication nothing here opens or closes the temporary, and nothing ever opens the
/// destination or the source.
///
/// An object that goes away unpublished removes its file, unless the process is killed: then the file stays, under the
/// temporary name, and the next ``ReplacementFile`` made in that directory sweeps it.
package final class ReplacementFile: Sendable {
    /// The final path, as given.
    package let destination: String
    /// The temporary path.
    package let path: String

    let directory: Directory
    let destinationName: String
    let temporaryName: String
    let registry: TemporaryFileRegistry
    /// nil once one caller took it to publish or to remove the file.
    private let descriptor: Locked<Int32?>

    /// Creates the temporary file, after removing what dead processes have left in the directory.
    ///
    /// - Parameter destination: the final path. It is not looked at yet, except that it must name a file.
    /// - Throws: ``DurableFileError``. Nothing is left behind.
    package convenience init(destination: String) throws(DurableFileError) {
        try self.init(destination: destination, registry: .shared)
    }

    /// As ``init(destination:)``, with the registry that a signal would clear.
    package init(destination: String, registry: TemporaryFileRegistry) throws(DurableFileError) {
        let parts = PathParts(destination)
        guard !parts.name.isEmpty, parts.name != ".", parts.name != ".." else {
            throw DurableFileError(.notRegularFile, operation: "open", path: destination)
        }
        let directory = try Directory(path: parts.directory)
        StaleFileSweep(directory: directory).run()
        let (name, descriptor) = try Self.create(for: parts, in: directory, registry: registry)
        self.destination = destination
        self.directory = directory
        self.registry = registry
        self.descriptor = Locked(descriptor)
        destinationName = parts.name
        temporaryName = name
        path = parts.sibling(name)
    }

    deinit { discard() }

    private static func create(
        for parts: PathParts, in directory: Directory, registry: TemporaryFileRegistry
    ) throws(DurableFileError) -> (name: String, descriptor: Int32) {
        var attempts = 0
        while true {
            let name = TemporaryName(for: parts.name).name
            let path = parts.sibling(name)
            let descriptor = try registry.create(path) { () throws(DurableFileError) in
                try systemCall("open", path) {
                    openat(directory.descriptor, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
                }
            }
            do {
                // The mask of the process may have taken bits away that SQLite needs.
                try systemCall("fchmod", path) { fchmod(descriptor, 0o600) }
                // On file systems shared with other machines an flock may be a POSIX lock in disguise, and shut SQLite
                // out of the file; there sweeping goes by process alone.
                guard cfs_is_local(descriptor) == 1 else { return (name, descriptor) }
                let isOurs = flock(descriptor, LOCK_EX | LOCK_NB) == 0
                if isOurs, try FileMetadata(descriptor: descriptor, path: path).linkCount == 1 {
                    return (name, descriptor)
                }
            } catch {
                close(descriptor)
                directory.unlink(name)
                registry.forget(path)
                throw error
            }
            // A sweeping process was between our open and our lock: it is removing the file. Take another.
            close(descriptor)
            directory.unlink(name)
            registry.forget(path)
            attempts += 1
            if attempts == 100 {
                throw DurableFileError(.inUse, operation: "flock", path: path, code: EWOULDBLOCK)
            }
        }
    }

    /// Whether the file still has its temporary name: neither published nor discarded.
    package var isPending: Bool { descriptor.value != nil }

    /// Removes the temporary file with its `-wal`, `-journal` and `-shm`. Does nothing after a publication.
    ///
    /// A connection that still has it open keeps working on a file without a name, and loses its POSIX locks on it.
    package func discard() {
        guard let descriptor = takeDescriptor() else { return }
        // The file last: a companion without its file would say nothing about its owner.
        for companion in TemporaryName.companions { directory.unlink(temporaryName + companion) }
        directory.unlink(temporaryName)
        registry.forget(path)
        close(descriptor)
    }

    /// The descriptor, for one caller: publication and removal exclude each other.
    func takeDescriptor() -> Int32? {
        descriptor.withLock { descriptor in
            defer { descriptor = nil }
            return descriptor
        }
    }

    func giveBack(_ descriptor: Int32) { self.descriptor.withLock { $0 = descriptor } }
}
