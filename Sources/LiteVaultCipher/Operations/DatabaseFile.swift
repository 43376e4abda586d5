/// A database file, and what can be done with it as a whole.
///
/// Every operation leaves the source intact when it fails or the process dies, and a destination is absent or complete.
/// All of them throw ``VaultError``, or what the caller's progress report throws to cancel.
public struct DatabaseFile: Sendable {
    /// The file's path. It is never taken for a URI.
    public let path: String
    /// How long to wait for locks of others, in seconds.
    public var busyTimeout: Double

    /// Names a file. Nothing is opened yet.
    public init(_ path: String, busyTimeout: Double = 5) {
        self.path = path
        self.busyTimeout = busyTimeout
    }

    /// What the file is, as far as its bytes tell without a key.
    ///
    /// Nothing is locked and nothing recovered.
    ///
    /// - Throws: ``VaultError`` `noInput` when there is no such file, `wrongKind` for a directory or device, `io`.
    public func kind() throws -> FileKind {
        let file = try EngineFile(path: path)
        return try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) }
    }

    /// The settings under which a key opens the file, found by trying the defaults of SQLCipher 4 to 1.
    ///
    /// - Parameter settings: Tried first.
    /// - Throws: ``VaultError`` `keyRejected` when the key opens it in no known format; as by opening.
    public func probe(key: DatabaseKey, trying settings: CipherSettings = .init()) throws -> CipherSettings {
        try CipherProbe.settings(of: path, key: key, trying: settings, busyTimeout: busyTimeout)
    }
}
