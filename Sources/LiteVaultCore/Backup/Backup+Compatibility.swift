extension Backup {
    /// Refuses copies that the engine makes without complaint and that nobody can read afterwards, or everybody.
    ///
    /// SQLCipher 3 copies an encrypted database into a plain file in the clear, and a plain one into an encrypted file
    /// unreadably. Every version copies between encrypted databases of different page sizes into a file that no setting
    /// opens.
    static func refuseUnreadableCopy(
        from source: Connection, _ sourceName: String, to target: Connection, _ targetName: String
    ) throws {
        let isSourceKeyed = try source.isKeyed(sourceName)
        let isTargetKeyed = try target.isKeyed(targetName)
        guard isSourceKeyed == isTargetKeyed else {
            throw DatabaseError(
                misuse:
                    "a page copy cannot encrypt or decrypt: the \(isSourceKeyed ? "source" : "target") is encrypted "
                    + "and the other is not; use encrypt, decrypt or export")
        }
        guard isSourceKeyed else { return }
        let sourceSize = try source.integer("\(quoted(sourceName)).page_size")
        let targetSize = try target.integer("\(quoted(targetName)).page_size")
        guard sourceSize == targetSize else {
            throw DatabaseError(
                misuse: "a page copy between encrypted databases needs equal page sizes: the source has \(sourceSize) "
                    + "bytes, the target \(targetSize); use export")
        }
    }
}

extension Connection {
    /// Whether a database of this connection has a codec: this pragma returns a row only then, in every version.
    package func isKeyed(_ schema: String) throws -> Bool {
        guard EngineInfo.linked.encryption != .none else { return false }
        return try withLock { try trusted { try scalar("PRAGMA \(quoted(schema)).cipher_provider") != nil } }
    }

    /// Begins a copy of a database of this connection into one of another connection.
    ///
    /// - Throws: as `Backup.init`.
    public func backup(
        databaseName: Backup.DatabaseName = .main, usingConnection targetConnection: Connection,
        andDatabaseName targetDatabaseName: Backup.DatabaseName = .main
    ) throws -> Backup {
        try Backup(
            sourceConnection: self, sourceName: databaseName, targetConnection: targetConnection,
            targetName: targetDatabaseName)
    }
}
