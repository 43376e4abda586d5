internal import LiteVaultFoundation

/// Where a user's files are.
package enum HomeDirectory {
    /// `HOME`, if that is an absolute path; else the one of the password database. A program that is started without an environment, by
    /// a scheduler for example, would otherwise forget what it has to remember.
    ///
    /// - Parameter environment: the environment's variables.
    /// - Returns: nil where neither names one. A directory of the password database counts only if it is this user's own: services have `/`,
    ///   or one that does not exist.
    package static func path(_ environment: [String: String]) -> String? {
        if let path = environment["HOME"], path.hasPrefix("/") { return path }
        var buffer = [CChar](repeating: 0, count: 16_384)
        var record = passwd()
        var found: UnsafeMutablePointer<passwd>?
        guard getpwuid_r(geteuid(), &record, &buffer, buffer.count, &found) == 0, found != nil,
            let path = record.pw_dir.map({ String(cString: $0) }), path.hasPrefix("/")
        else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR, status.st_uid == geteuid() else {
            return nil
        }
        return path
    }
}
