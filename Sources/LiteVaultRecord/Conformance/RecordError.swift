/// What reading or writing a record can fail with, besides the errors of the engine.
///
/// ```swift
/// do {
///     try note.update(db)
/// } catch RecordError.Code.notFound {
///     …                                   // somebody has deleted the note
/// } catch RecordError.Code.staleVersion {
///     try note.refresh(db)
/// }
/// ```
public struct RecordError: Error, Sendable {
    /// A kind of failure, by a stable name. New ones may be added: a `switch` needs a `default`.
    public struct Code: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
        /// The stable name: `not-found`.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The same as ``rawValue``.
        public var description: String { rawValue }

        /// There is no such row.
        public static let notFound = Code(rawValue: "not-found")
        /// There are several rows where the condition was to identify one.
        public static let notUnique = Code(rawValue: "not-unique")
        /// The row has another version: it was written since the record was read.
        public static let staleVersion = Code(rawValue: "stale-version")
        /// The record has no primary key yet: it was not inserted.
        public static let noKey = Code(rawValue: "no-key")
        /// The conformance of the type is not what its table or the statement needs.
        public static let conformance = Code(rawValue: "conformance")

        /// Matches an error with this code, as in `catch RecordError.Code.notFound`.
        public static func ~= (pattern: Code, error: any Error) -> Bool { (error as? RecordError)?.code == pattern }
    }

    /// The kind of failure.
    public let code: Code
    /// What happened. It contains no values.
    public let message: String
    /// The table.
    public let table: String
    /// What the caller can do about it.
    public let remedy: String
}

extension RecordError: CustomStringConvertible {
    /// The table, what happened and what to do.
    public var description: String { "\(table): \(message) \(remedy)" }
}

extension RecordError {
    @usableFromInline
    static func notFound(_ table: String) -> RecordError {
        RecordError(
            code: .notFound, message: "There is no such row.", table: table,
            remedy: "It was never inserted, or is deleted.")
    }

    @usableFromInline
    static func notUnique(_ table: String) -> RecordError {
        RecordError(
            code: .notUnique, message: "Several rows meet the condition.", table: table,
            remedy: "Use columns with a UNIQUE constraint, or `first` for any of them.")
    }

    @usableFromInline
    static func staleVersion(_ table: String) -> RecordError {
        RecordError(
            code: .staleVersion, message: "The row was written since the record was read.", table: table,
            remedy: "Refresh the record, make the change again and write it.")
    }

    @usableFromInline
    static func noKey(_ table: String) -> RecordError {
        RecordError(
            code: .noKey, message: "The record has no primary key.", table: table, remedy: "Insert it first.")
    }

    @usableFromInline
    static func count(_ table: String, _ function: String, _ count: Int, of columns: Int) -> RecordError {
        RecordError(
            code: .conformance, message: "\(function) handled \(count) columns of \(columns).", table: table,
            remedy: "Handle each column of the record's table once, in order.")
    }
}
