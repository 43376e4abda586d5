/// The type of `PRAGMA user_version`.
public typealias UserVersion = Int32

extension Connection {
    /// The version of the linked engine.
    public var sqliteVersion: SQLiteVersion { EngineInfo.linked.sqliteVersion }

    /// `PRAGMA user_version`: a number of the application's own, in the file's header.
    ///
    /// nil when it cannot be read; an error in setting it is lost. ``readUserVersion()`` and ``setUserVersion(_:)``
    /// throw.
    public var userVersion: UserVersion? {
        get { try? readUserVersion() }
        set { if let newValue { try? setUserVersion(newValue) } }
    }

    /// Reads `PRAGMA user_version`.
    ///
    /// - Throws: `DatabaseError`
    public func readUserVersion() throws -> UserVersion { UserVersion(truncatingIfNeeded: try integer("user_version")) }

    /// Sets `PRAGMA user_version`, in the current transaction if there is one.
    ///
    /// - Throws: `DatabaseError`
    public func setUserVersion(_ version: UserVersion) throws { try run("PRAGMA user_version = \(version)") }

    /// Reads `PRAGMA application_id`: what kind of file this is, for tools such as `file`.
    ///
    /// - Throws: `DatabaseError`
    public func readApplicationID() throws -> Int32 { Int32(truncatingIfNeeded: try integer("application_id")) }

    /// Sets `PRAGMA application_id`, in the current transaction if there is one.
    ///
    /// - Throws: `DatabaseError`
    public func setApplicationID(_ id: Int32) throws { try run("PRAGMA application_id = \(id)") }

    /// `PRAGMA foreign_keys`: whether foreign keys are enforced. The engine ignores the setting inside a transaction, and
    /// an error in setting it is lost: ``setForeignKeys(_:)`` throws for both.
    public var foreignKeys: Bool {
        get { (try? integer("foreign_keys")) == 1 }
        set { try? setForeignKeys(newValue) }
    }

    /// Sets whether foreign keys are enforced (`PRAGMA foreign_keys`).
    ///
    /// - Throws: `DatabaseError`, also where the engine ignored it: inside a transaction.
    public func setForeignKeys(_ isOn: Bool) throws {
        try run("PRAGMA foreign_keys = \(isOn ? "ON" : "OFF")")
        guard try integer("foreign_keys") == (isOn ? 1 : 0) else {
            throw DatabaseError(misuse: "foreign_keys cannot be changed inside a transaction: set it before")
        }
    }

    /// `PRAGMA defer_foreign_keys`: whether violations are tolerated until the current transaction commits. An error in
    /// setting it is lost: ``setDeferForeignKeys(_:)`` throws.
    public var deferForeignKeys: Bool {
        get { (try? integer("defer_foreign_keys")) == 1 }
        set { try? setDeferForeignKeys(newValue) }
    }

    /// Sets whether violations are tolerated until the current transaction commits (`PRAGMA defer_foreign_keys`).
    ///
    /// - Throws: `DatabaseError`
    public func setDeferForeignKeys(_ isOn: Bool) throws {
        try run("PRAGMA defer_foreign_keys = \(isOn ? "ON" : "OFF")")
    }

    /// `PRAGMA synchronous`. An error in setting it is lost: ``setSynchronous(_:)`` throws.
    public var synchronous: Synchronous {
        get { (try? integer("synchronous")).flatMap { Synchronous(rawValue: Int($0)) } ?? .full }
        set { try? setSynchronous(newValue) }
    }

    /// Sets how often the engine waits for the disk (`PRAGMA synchronous`). Ignored inside a transaction.
    ///
    /// - Throws: `DatabaseError`
    public func setSynchronous(_ mode: Synchronous) throws { try run("PRAGMA synchronous = \(mode.rawValue)") }

    /// The value of a pragma that returns one number.
    ///
    /// SQLCipher answers some of SQLite's pragmas itself (page_size of an encrypted database), and in text.
    package func integer(_ pragma: String) throws -> Int64 {
        let value = try scalar("PRAGMA \(pragma)")
        return value as? Int64 ?? (value as? String).flatMap { Int64($0) } ?? 0
    }
}

extension Connection {
    /// How often the engine waits until data is on the disk (https://sqlite.org/pragma.html#pragma_synchronous).
    public enum Synchronous: Int, CaseIterable, Sendable {
        case off = 0
        case normal = 1
        case full = 2
        case extra = 3
    }
}
