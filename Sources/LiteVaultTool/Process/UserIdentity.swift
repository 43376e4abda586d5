internal import LiteVaultSystem

/// A user of the system whose rights this process can take, if it runs as root.
struct UserIdentity {
    private let name: String
    private let user: uid_t
    private let group: gid_t
    private let home: String

    /// Whether this process is root, whose files nobody else can read.
    static var isRoot: Bool { geteuid() == 0 }

    /// - Throws: `no-input` if there is no such user.
    init(_ name: String) throws(Failure) {
        guard let entry = getpwnam(name) else {
            throw Failure(
                .noInput, "there is no user '\(name)'", remedy: "Name the user of the service's unit (User=).")
        }
        self.name = name
        (user, group) = (entry.pointee.pw_uid, entry.pointee.pw_gid)
        home = entry.pointee.pw_dir.map { String(cString: $0) } ?? "/"
    }

    /// The owner of files that are the user's.
    var fileOwner: FileOwner { FileOwner(user: user, group: group) }

    init?(ownerOf directory: String) {
        var status = stat()
        guard stat(directory, &status) == 0 else { return nil }
        (user, group) = (status.st_uid, status.st_gid)
        (name, home) = ("\(status.st_uid)", "/")
    }

    /// Gives up the rights of this process for those of the user, for the rest of its life. Directories that the environment names for
    /// the present user no longer count.
    ///
    /// - Throws: `usage` if this process may not.
    func assume() throws(Failure) {
        guard geteuid() != user else { return }
        guard initgroups(name, numericCast(group)) == 0, setgid(group) == 0, setuid(user) == 0 else {
            throw Failure(
                .usage, "only root can examine what '\(name)' may do", remedy: "Run it with sudo, or as that user.")
        }
        setenv("HOME", home, 1)
        for variable in ["XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"] { unsetenv(variable) }
    }
}
