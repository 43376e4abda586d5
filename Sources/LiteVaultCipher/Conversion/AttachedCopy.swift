internal import LiteVaultCore
internal import LiteVaultEngine

/// A new database, attached to the connection whose content it gets.
///
/// Only within one connection does the engine copy the records of a table and of its indexes as they are
/// (https://sqlite.org/src/file/src/insert.c, "transfer optimization"): no record is taken apart, no index is sorted, and
/// nothing but the page cache is in memory.
///
/// The source's state must be the same until the copy has been compared with it, but the copy must be committed before another
/// connection can read it, and COMMIT ends the transaction of all databases. A statement that is not finished keeps the
/// read transaction of the source open beyond that.
final class AttachedCopy {
    /// The name of the attached database in SQL.
    static let schema = "litevault_copy"

    private let source: Connection
    private var snapshot: OpaquePointer?
    private var isAttached = false
    private let foreignKeys: Int64
    private let ignoresChecks: Int64

    /// Attaches an empty file, under the name ``schema``.
    ///
    /// - Parameters:
    ///   - source: outside of a transaction.
    ///   - unlocker: the key and settings of the new file; nil for a plaintext database.
    /// - Throws: `VaultError` `usage` in a transaction; as for attaching. Nothing is attached then.
    init(of source: Connection, at path: String, _ unlocker: KeyUnlocker?) throws {
        guard !source.isInTransaction else {
            throw VaultError(.usage, "The content cannot be copied in a transaction", remedy: "Commit it first.")
        }
        self.source = source
        foreignKeys = try source.integer("foreign_keys")
        ignoresChecks = try source.integer("ignore_check_constraints")
        let pageSize = try source.pageSize()
        if let unlocker {
            let (key, settings) = try Self.attachable(unlocker)
            try source.attach(.existing(path), as: Self.schema, key: key, settings: settings)
        } else {
            try source.attach(.existing(path), as: Self.schema, key: .plaintext)
        }
        isAttached = true
        do {
            // Where a connection has locked its file exclusively, attached ones are locked like it: nobody else could read
            // the copy. No journal and no syncs: the file is private, and synced when it is complete.
            try source.execute(
                """
                PRAGMA \(Self.schema).locking_mode = NORMAL;
                PRAGMA \(Self.schema).journal_mode = OFF;
                PRAGMA \(Self.schema).synchronous = OFF;
                PRAGMA \(Self.schema).cache_size = -16384;
                PRAGMA foreign_keys = OFF;
                PRAGMA ignore_check_constraints = ON;
                """)
            if unlocker == nil { try source.execute("PRAGMA \(Self.schema).page_size = \(pageSize)") }
            try takeSnapshot()
        } catch {
            try? detach()
            throw error
        }
    }

    deinit { try? detach() }

    /// The salt of an attached database can only be given as a part of its key.
    private static func attachable(_ unlocker: KeyUnlocker) throws -> (DatabaseKey, CipherSettings) {
        guard let salt = unlocker.settings.salt, unlocker.key.salt == nil else {
            return (unlocker.key, unlocker.settings)
        }
        guard unlocker.key.needsDerivation else {
            return (try DatabaseKey(unlocker.key.secret, salt: salt), unlocker.settings)
        }
        guard let key = try unlocker.key.derived(salt: salt, settings: unlocker.settings) else {
            throw VaultError(.unsupported, "No digest library is loaded to derive the key with this salt")
        }
        return (key, unlocker.settings)
    }

    /// Begins to read the source, and does not finish.
    private func takeSnapshot() throws {
        try source.withHandle { handle in
            let sql = "SELECT count(*) FROM main.sqlite_master UNION ALL SELECT 0"
            try source.check(sqlite3_prepare_v2(handle, sql, -1, &snapshot, nil), sql: sql)
            try source.check(sqlite3_step(snapshot), sql: sql)
        }
    }

    /// The new file. Its size may be read while the engine writes it.
    func file() throws -> EngineFile {
        try source.withHandle { try EngineFile(connection: $0, schema: Self.schema, path: source.description) }
    }

    /// Ends the read transaction of the source, and closes the new file. Does nothing when called again.
    func detach() throws {
        sqlite3_finalize(snapshot)
        snapshot = nil
        guard isAttached else { return }
        isAttached = false
        try? source.execute(
            "PRAGMA foreign_keys = \(foreignKeys); PRAGMA ignore_check_constraints = \(ignoresChecks)")
        try source.detach(Self.schema)
    }
}
