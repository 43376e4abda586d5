internal import CFileSupport
internal import Foundation

/// An open directory. Names are looked up in it, not along a path, so that renaming a parent changes nothing midway.
final class Directory: Sendable {
    let path: String
    let descriptor: Int32

    init(path: String) throws(DurableFileError) {
        self.path = path
        descriptor = try systemCall("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    }

    deinit { close(descriptor) }

    func metadata(_ name: String) throws(DurableFileError) -> FileMetadata? {
        var status = stat()
        if fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileMetadata(status) }
        let code = errno
        if code == ENOENT { return nil }
        throw DurableFileError(.system, operation: "lstat", path: path + "/" + name, code: code)
    }

    @discardableResult
    func unlink(_ name: String) -> Bool { unlinkat(descriptor, name, 0) == 0 }

    /// Makes creations, renames and removals in the directory durable.
    func sync() throws(DurableFileError) {
        do {
            try systemCall("fsync", path) { cfs_sync(descriptor) }
        } catch {
            // File systems that keep no directory data of their own say so; there is nothing to make durable then.
            if error.code == EINVAL || error.code == ENOTSUP { return }
            throw error
        }
    }

    func names() -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                    String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names
    }
}
