internal import LiteVaultCapture
internal import LiteVaultQuoting
internal import LiteVaultRepository
internal import LiteVaultSystem

/// A directory on an SSH server, and how to reach it.
///
/// The connection is made by the system's `ssh`: its configuration, agent, keys, known hosts and jump hosts apply. It never asks
/// for a passphrase or a host key (`BatchMode`).
public struct SFTPSettings: Sendable {
    /// The user's name on the server; nil leaves it to ssh.
    public var user: String?
    /// The host's name or address, or a `Host` of the configuration of ssh.
    public var host: String
    /// The port; nil leaves it to ssh.
    public var port: Int?
    /// The directory: absolute, or relative to the user's home directory.
    public var path: String
    /// A shell command that connects its standard input and output to an SFTP server, in place of ssh: `ssh -J jump -s host sftp`, for
    /// instance. User, host and port of the location are not used then. Nil, the default, runs ssh.
    public var command: String?
    /// How often a request is made before a lost connection is an error; 7 by default.
    public var attempts = 7
    /// How long a server may be silent before the connection counts as lost; 2 minutes by default.
    public var timeout = Duration.seconds(120)
    /// How long the store spends on lost connections and the pauses after them, over all its requests, before that is an error;
    /// 5 minutes by default. Each request that succeeds gives a twentieth back.
    public var retryTimeLimit = Duration.seconds(300)
    /// How long a writer waits for the lock of an object that another one replaces; 2 minutes by default. The lock of a writer
    /// that stopped is broken after a minute.
    public var lockTimeout = Duration.seconds(120)
    /// The age at which the lock of a writer that stopped is broken, by the server's clock.
    package var lockAge = Duration.seconds(60)
    /// The age at which the remains of interrupted writes are removed, by the server's clock.
    package var leftoverAge = Duration.seconds(86_400)
    package var listedEntries = ReadLimits.entries
    /// The longest pause before the second attempt; doubled with each further one.
    package var firstPause = Duration.milliseconds(200)
    /// Called with the name of each step of a conditional write, and before an object is opened for its tag; for tests.
    package var observer: (@Sendable (String) async -> Void)?

    /// Creates settings from a URL `sftp://[USER@]HOST[:PORT]/PATH`. The path is absolute; `/~/PATH` is relative to the home directory
    /// of the user.
    ///
    /// - Throws: `VaultError` `config` if the URL has another form, contains a password, or no path.
    public init(url: String) throws {
        func invalid(_ message: String) -> VaultError {
            VaultError(
                .config, message, path: url.withoutPassword,
                remedy:
                    "Write it as sftp://[USER@]HOST[:PORT]/PATH, or sftp://HOST/~/PATH for a path in the home directory."
            )
        }
        guard url.lowercased().hasPrefix("sftp://") else { throw invalid("not an SFTP URL") }
        guard !url.unicodeScalars.contains(where: { $0.value < 32 || $0.value == 127 }) else {
            throw invalid("control characters in the SFTP URL")
        }
        let rest = url.dropFirst(7)
        guard let slash = rest.utf8.firstIndex(of: UInt8(ascii: "/")) else { throw invalid("the SFTP URL has no path") }
        var authority = rest[..<slash]
        if let sign = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            let name = authority[..<sign]
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: ":")) else {
                throw invalid(name.isEmpty ? "the SFTP URL has an empty user name" : "the SFTP URL contains a password")
            }
            user = String(name)
            authority = authority[authority.utf8.index(after: sign)...]
        }
        var port = authority.utf8[...]
        if authority.utf8.first == UInt8(ascii: "[") {
            guard let end = port.firstIndex(of: UInt8(ascii: "]")) else {
                throw invalid("invalid address in the SFTP URL")
            }
            host = String(decoding: port[..<end].dropFirst(), as: UTF8.self)
            port = port[end...].dropFirst()
            guard port.isEmpty || port.first == UInt8(ascii: ":") else {
                throw invalid("invalid address in the SFTP URL")
            }
        } else {
            host = String(decoding: port.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self)
            port = port.drop { $0 != UInt8(ascii: ":") }
        }
        guard !host.isEmpty, host.utf8.first != UInt8(ascii: "-"),
            !host.unicodeScalars.contains(where: \.properties.isWhitespace)
        else { throw invalid("the SFTP URL names no host") }
        if !port.isEmpty {
            guard let number = UInt16(String(decoding: port.dropFirst(), as: UTF8.self)), number > 0 else {
                throw invalid("invalid port in the SFTP URL")
            }
            self.port = Int(number)
        }
        var path = String(rest[slash...])
        while path.count > 1, path.hasSuffix("/") { path.removeLast() }
        if path.starts(withText: "/~/") {
            path = String(Substring(path.utf8.dropFirst(3)))
        } else if path == "/~" {
            path = "."
        }
        guard !path.isEmpty else { throw invalid("the SFTP URL has no path") }
        self.path = path
    }

    /// Sets how long the store may be silent, fail or be locked, all in all.
    package mutating func limit(to time: Duration) {
        retryTimeLimit = time
        timeout = min(timeout, time)
        lockTimeout = min(lockTimeout, time)
    }

    /// The URL, as ``init(url:)`` reads it.
    public var location: String {
        let name = host.contains(":") ? "[\(host)]" : host
        let place = path.starts(withText: "/") ? path : path == "." ? "/~" : "/~/\(path)"
        return "sftp://\(user.map { $0 + "@" } ?? "")\(name)\(port.map { ":\($0)" } ?? "")\(place)"
    }

    /// What `/bin/sh -c` is given to connect.
    package var shellCommand: String {
        if let command { return command }
        var words = [
            "ssh", "-oBatchMode=yes", "-oServerAliveInterval=15", "-oServerAliveCountMax=4",
            "-oClearAllForwardings=yes",
            "-oForwardX11=no", "-oForwardAgent=no", "-oPermitLocalCommand=no",
        ]
        if let port { words += ["-p", String(port)] }
        if let user { words += ["-l", user] }
        words += ["-s", "--", host, "sftp"]
        return "exec " + words.map(Quoting.shellWord).joined(separator: " ")
    }
}
