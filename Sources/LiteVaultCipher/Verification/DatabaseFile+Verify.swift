internal import LiteVaultCore

extension DatabaseFile {
    /// Verifies the whole database: every page's authentication code and those in the write-ahead log, the log's own
    /// checksums, the file's length, the structure (`integrity_check`) and the foreign keys (`foreign_key_check`).
    ///
    /// It can be done while the database is in use. Nothing is repaired, written or removed: what is verified is the
    /// database as whoever opens it next would find it, read through a log or journal that is pending.
    ///
    /// No check inside a file can tell that it, or a page of it, was replaced by an older version of itself.
    ///
    /// - Parameters:
    ///   - key: The key; nil for a plaintext database.
    ///   - settings: What the file is encrypted with.
    ///   - progress: Called now and then; throws to cancel.
    /// - Returns: What was found. A damaged database is a result, not an error.
    /// - Throws: ``VaultError`` when it cannot be verified: `keyRejected` for a wrong key, unless some page shows that
    ///   the key is right; `noInput`, `wrongKind`, `busy`, `io` and others.
    public func verify(
        key: DatabaseKey? = nil, settings: CipherSettings = .init(), progress: OperationProgress.Report? = nil
    ) throws -> VerificationReport {
        if key != nil { _ = try CipherEngine.require(for: path) }
        try VaultError.about(path) { try settings.validate(with: key) }
        // SQLite keeps the log beside the file itself, not beside a link to it.
        let file = try resolved()
        var verification = Verification(
            file: file, key: key, settings: settings, report: VerificationReport(kind: try file.kind()),
            progress: progress ?? { _ in })
        // First, and through no connection: SQLite would replay a log that does not belong to the database.
        if try verification.logIsDangerous() { return verification.report }
        do {
            return try file.withoutWriting(key: key, settings: settings) { connection, image in
                var verification = verification
                verification.report.pending = image.pending
                try connection.reading { try verification.examine(connection) }
                return verification.report
            }
        } catch let error as VaultError where error.code == .damaged {
            try verification.examineUnopened(error)
        }
        return verification.report
    }
}
