public import LiteVaultCore

extension DatabaseFile {
    /// Reads the database as the next connection would find it, without writing a byte: a pending log or journal is read with
    /// the file, and left as it is.
    ///
    /// The connection cannot write, attach other files or use temporary ones. Like any reader it holds up checkpoints, and
    /// writers in rollback mode, until `body` returns.
    ///
    /// ```swift
    /// let count = try DatabaseFile("vault.db").read(key: key) { try $0.value("SELECT count(*) FROM note", as: Int.self) }
    /// ```
    ///
    /// - Parameters:
    ///   - key: the key; nil for a plaintext database.
    ///   - settings: the settings that the file is encrypted with.
    ///   - body: called once. It must not keep the connection.
    /// - Throws: ``VaultError``, as for opening; `damaged` if the log beside it is damaged or belongs to another database;
    ///   `busy` if another connection changed the file meanwhile, which locks prevent wherever a connection already uses it;
    ///   what `body` throws.
    public func read<T>(
        key: DatabaseKey? = nil, settings: CipherSettings = .init(), _ body: (Connection) throws -> T
    ) throws -> T {
        let unlocker = try unlocker(key, settings)
        let file = try resolved()
        try file.requireSuitable(hasKey: key != nil)
        try file.requireOwnLog(unlocker, kind())
        let image = try ReadOnlyImage(path: file.path, lockTimeout: lockTimeout)
        let result = Result {
            try image.open(unlocker?.unlocking(file.path, lockTimeout: .zero)) { connection in
                try connection.reading { try body(connection) }
            }
        }
        guard image.isUnchanged else {
            throw VaultError(
                .busy, "The database was changed while it was read", path: path,
                remedy: "Try again. What was read before may mix two states.")
        }
        return try result.get()
    }
}
