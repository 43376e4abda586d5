/// A setting of a database or of a connection (https://sqlite.org/pragma.html), with the type of its value.
///
/// ```swift
/// try db.setPragma(.foreignKeys, to: true)
/// let version = try db.pragma(.userVersion)
/// ```
public struct Pragma<Value>: Sendable {
    fileprivate let read: @Sendable (Connection) throws -> Value
    fileprivate let write: @Sendable (Connection, Value) throws -> Void
}

extension Connection {
    /// Reads a pragma.
    ///
    /// - Throws: `DatabaseError`
    public func pragma<Value>(_ pragma: Pragma<Value>) throws -> Value { try pragma.read(self) }

    /// Sets a pragma, in the current transaction if there is one.
    ///
    /// - Throws: `DatabaseError`, also if the engine ignored it.
    public func setPragma<Value>(_ pragma: Pragma<Value>, to value: Value) throws { try pragma.write(self, value) }
}

extension Pragma<Int32> {
    /// `PRAGMA user_version`: a number of the application's own, in the header of the file. 0 in a new file.
    public static var userVersion: Pragma<Int32> { number("user_version") }

    /// `PRAGMA application_id`: the type of the file, for tools such as `file`. 0 in a new file.
    public static var applicationID: Pragma<Int32> { number("application_id") }

    private static func number(_ name: String) -> Pragma<Int32> {
        .init {
            Int32(truncatingIfNeeded: try $0.integer(name))
        } write: {
            try $0.execute("PRAGMA \(name) = \($1)")
        }
    }
}

extension Pragma<Bool> {
    /// `PRAGMA foreign_keys`: whether foreign keys are enforced on this connection. Off by default. It cannot be changed inside a
    /// transaction, and throws there.
    public static var foreignKeys: Pragma<Bool> {
        .init {
            try $0.integer("foreign_keys") != 0
        } write: { connection, isOn in
            try connection.execute("PRAGMA foreign_keys = \(isOn ? "ON" : "OFF")")
            guard try connection.integer("foreign_keys") == (isOn ? 1 : 0) else {
                throw DatabaseError(misuse: "foreign_keys cannot be changed inside a transaction: set it before")
            }
        }
    }

    /// `PRAGMA defer_foreign_keys`: whether violations are tolerated until the current transaction commits.
    public static var deferForeignKeys: Pragma<Bool> {
        .init {
            try $0.integer("defer_foreign_keys") != 0
        } write: {
            try $0.execute("PRAGMA defer_foreign_keys = \($1 ? "ON" : "OFF")")
        }
    }
}

extension Pragma<Int> {
    /// `PRAGMA wal_autocheckpoint`: the number of pages in the log after which a commit checkpoints. 1000 by default; 0
    /// or less: never. Setting it ends the effect of ``Connection/setWALAutoCheckpoint(_:guardedBy:)``.
    public static var walAutoCheckpoint: Pragma<Int> {
        .init {
            try $0.automaticCheckpointPages()
        } write: {
            try $0.setAutomaticCheckpoint(pages: $1)
        }
    }
}

extension Pragma<Connection.Synchronous> {
    /// `PRAGMA synchronous`: how often the engine waits for the disk. It cannot be changed inside a transaction, and throws there.
    public static var synchronous: Pragma<Connection.Synchronous> {
        .init {
            Connection.Synchronous(rawValue: Int(try $0.integer("synchronous"))) ?? .full
        } write: {
            try $0.execute("PRAGMA synchronous = \($1.rawValue)")
        }
    }
}

extension Pragma<Connection.JournalMode> {
    /// `PRAGMA journal_mode` of the main database. On an encrypted file, only after its key. Setting it throws if a
    /// file keeps another mode; a database in memory keeps its own mode without an error.
    public static var journalMode: Pragma<Connection.JournalMode> {
        .init {
            try $0.currentJournalMode()
        } write: {
            try $0.changeJournalMode(to: $1)
        }
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
