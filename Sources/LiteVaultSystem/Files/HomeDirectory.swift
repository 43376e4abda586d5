/// The directory that has a user's own files.
///
/// A program that a scheduler starts may have no `HOME`. It would then forget what it has to remember (``path(_:)``).
package enum HomeDirectory {
    /// `HOME`, if that is the absolute path of a directory; else the home directory in the password database (`getpwuid_r`).
    ///
    /// - Returns: nil where neither names one. `/nonexistent`, which services have, is not to be created. A directory of the password database
    ///   counts only if it is this user's own: services have `/`, too.
    package static func path(_ environment: [String: String]) -> String? {
        if let path = given(environment), (try? FileMetadata(path: path, followingLinks: true))?.kind == .directory {
            return path
        }
        return registered(geteuid()).flatMap { isOwned($0) ? $0 : nil }
    }

    private static func given(_ environment: [String: String]) -> String? {
        environment["HOME"].flatMap { $0.starts(withText: "/") ? $0 : nil }
    }

    /// The path with the home directory in place of a leading `~/`. Any other path is returned as it is.
    ///
    /// - Returns: nil if the path starts with `~/` and there is no home directory.
    package static func expand(_ path: String, _ environment: [String: String]) -> String? {
        guard path.starts(withText: "~/") else { return path }
        return (given(environment) ?? self.path(environment)).map { $0 + path.dropFirst() }
    }

    /// The home directory of a user in the password database.
    private static func registered(_ user: uid_t) -> String? {
        var buffer = [CChar](repeating: 0, count: 16_384)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(user, &record, &buffer, buffer.count, &found) == 0, found != nil,
            let path = record.pw_dir.map({ String(cString: $0) }), path.starts(withText: "/")
        else { return nil }
        return path
    }

    /// Whether a directory exists and belongs to this user.
    private static func isOwned(_ directory: String) -> Bool {
        var status = stat()
        return stat(directory, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR && status.st_uid == geteuid()
    }
}
