/// What an engine error was about: a detached record, so that a kept error keeps no statement, and no lock, alive.
public struct ErrorContext: Sendable, Equatable, CustomStringConvertible {
    /// The SQL text, without the values bound to it. Keys written into the text are replaced.
    public let sql: String?
    /// The extended result code (`sqlite3_extended_errcode`), such as 2067 for a violated UNIQUE constraint.
    public let extendedCode: Int32
    /// The main database's file, or nil for a database in memory, and for a connection of module
    /// `SQLite`: programs show or compare its errors as the engine's words.
    public let path: String?
    /// Offset into the SQL text, in bytes of UTF-8, of the token that the error is about (engines from 3.38 on).
    public let byteOffset: Int?

    /// A record by its parts.
    public init(sql: String? = nil, extendedCode: Int32, path: String? = nil, byteOffset: Int? = nil) {
        self.sql = sql
        self.extendedCode = extendedCode
        self.path = path
        self.byteOffset = byteOffset
    }

    /// The SQL text, or the file.
    public var description: String { sql ?? path ?? "" }
}
