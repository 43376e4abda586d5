internal import CSystem

/// Who may read and write a file besides its owner, its group and all others: the access control list of Linux.
///
/// Where there is one, the group's bits of the mode are its mask, the most that it gives to anybody but the owner, and not what the
/// group may do.
package struct AccessControlList: Sendable, Equatable {
    /// A version and entries of a tag, permission bits and an identifier, as the kernel has them.
    package let bytes: [UInt8]

    /// The kernel's own limit for an attribute.
    private static let limit = 65536

    package init(bytes: [UInt8]) { self.bytes = bytes }

    /// Reads the list of a file, without opening it. Nil if the mode of the file says it all, or there is no such file.
    ///
    /// - Throws: ``DurableFileError`` if that cannot be found out.
    package init?(ofFile path: String) throws(DurableFileError) {
        var buffer = [UInt8](repeating: 0, count: Self.limit)
        let count: Int32
        do {
            count = try systemCall("lgetxattr", path) { cfs_acl_read(path, &buffer, Self.limit) }
        } catch {
            if [ENODATA, ENOTSUP, ENOSYS, ENOENT].contains(error.code) { return nil }
            throw error
        }
        bytes = Array(buffer.prefix(Int(count)))
    }

    /// Gives an open file the list, and with it the permission bits of its mode.
    ///
    /// - Throws: ``DurableFileError``. The file has the permissions that it had.
    package func give(to descriptor: Int32, path: String) throws(DurableFileError) {
        try systemCall("fsetxattr", path) { cfs_acl_write(descriptor, bytes, bytes.count) }
    }

    /// Removes the list that an open file has, for example from its directory.
    package static func remove(from descriptor: Int32) { _ = cfs_acl_remove(descriptor) }

    /// The permission bits of the file's group, at their place in a mode.
    package var groupBits: UInt16 {
        let groupTag: UInt8 = 4
        for start in stride(from: 4, to: bytes.count - 7, by: 8)
        where bytes[start] == groupTag && bytes[start + 1] == 0 {
            return UInt16(bytes[start + 2] & 7) << 3
        }
        return 0
    }
}
