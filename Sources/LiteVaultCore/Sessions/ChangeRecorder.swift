internal import CEngineSupport
internal import LiteVaultEngine

/// Records the changes that a connection makes to its tables (https://sqlite.org/sessionintro.html), as a ``Changeset`` that can
/// be sent elsewhere, applied and inverted.
///
/// ```swift
/// let recorder = try ChangeRecorder(db)
/// try db.run("UPDATE note SET title = ? WHERE id = ?", with: "new", 1)
/// let changes = try recorder.changeset()
/// recorder.close()
/// try changes.apply(to: other) { conflict in .omit }
/// ```
///
/// Only tables with a PRIMARY KEY are recorded, but not virtual ones, nor rows whose key is NULL. It needs an engine that is
/// built with `SQLITE_ENABLE_SESSION`, as Debian's and Apple's SQLite are and SQLCipher by default is not. The connection cannot be
/// closed before the recorder is closed or released.
public final class ChangeRecorder: @unchecked Sendable {  // the state only under the connection's lock
    private let db: Connection
    private var session: UnsafeMutableRawPointer?

    /// Whether the linked engine has sessions.
    public static var isSupported: Bool { lv_has_sessions() }

    /// Begins to record (`sqlite3session_create`).
    ///
    /// - Parameters:
    ///   - db: a connection; changes by others are not recorded.
    ///   - tables: the tables to record; nil, the default, for all, also those created later.
    ///   - schema: the name of an attached database; "main" by default.
    /// - Throws: `VaultError` `unsupported` when the engine has no sessions; `DatabaseError`.
    public init(_ db: Connection, tables: [String]? = nil, schema: String = "main") throws {
        self.db = db
        guard ([schema] + (tables ?? [])).allSatisfy({ !$0.utf8.contains(0) }) else {
            throw DatabaseError(misuse: "the name of a table contains a NUL")
        }
        try db.withHandle { handle in
            var created: UnsafeMutableRawPointer?
            try Changeset.check(lv_session_create(handle, schema, &created), db)
            guard let created else { throw DatabaseError(misuse: "the session was not created") }
            var code = tables == nil ? lv_session_attach(created, nil) : SQLITE_OK
            for table in tables ?? [] where code == SQLITE_OK { code = lv_session_attach(created, table) }
            guard code == SQLITE_OK else {
                lv_session_delete(created)
                return try Changeset.check(code, db)
            }
            session = created
            db.sessions += 1
        }
    }

    deinit {
        if let session { db.deferring(.session(session)) }
    }

    /// Whether nothing was changed so far. Changes that cancel each other out still count.
    public var isEmpty: Bool { db.reading { _ in session.map { lv_session_is_empty($0) } ?? true } ?? true }

    /// The changes so far, with the old values of changed rows (`sqlite3session_changeset`). Recording continues.
    ///
    /// - Throws: `DatabaseError`, for instance when a table was changed since the recording began.
    public func changeset() throws -> Changeset { try changes(patchset: false) }

    /// The changes so far, without the old values except for keys (`sqlite3session_patchset`): smaller, but it cannot be inverted, and
    /// rows that were changed elsewhere are not found to be in conflict.
    ///
    /// - Throws: as ``changeset()``.
    public func patchset() throws -> Changeset { try changes(patchset: true) }

    /// Leaves out the changes of a block (`sqlite3session_enable`).
    ///
    /// - Throws: what the block throws.
    public func withoutRecording<T>(_ body: () throws -> T) throws -> T {
        try db.withLock {
            if let session { lv_session_enable(session, false) }
            defer { if let session { lv_session_enable(session, true) } }
            return try body()
        }
    }

    /// Ends the recording (`sqlite3session_delete`). What was recorded is gone; ``changeset()`` throws.
    public func close() {
        _ = db.reading { _ in
            if let open = session.take() { db.deleteSession(open) }
        }
    }

    private func changes(patchset: Bool) throws -> Changeset {
        try db.withHandle { _ in
            guard let session else { throw DatabaseError(misuse: "the recorder is closed") }
            return try Changeset.taking(db) { lv_session_changes(session, patchset, $0, $1) }
        }
    }
}
