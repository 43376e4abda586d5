internal import LiteVaultSystem

/// What shows that a database is the promoted one, in a file beside it (`.promoted` after its name).
///
/// The repository names the line, and a process that backs the database up under its name has to find this file. It moves with the database,
/// as its keyring does: hosts and paths change, and an old primary must not pass for the new one by having the same.
struct PromotedDatabase: CheckedDocument, Sendable, Equatable {
    var version = 1
    var repository: String
    /// The database's identifier, and its name.
    var database: String
    var name: String
    /// The line that began with the promotion, and the one before; absent if there was no promotion before.
    var line: String
    var before: String?
    /// Whether the repository knows of it.
    var isFenced: Bool
    /// The state that it had, in milliseconds since 1970, and the last segment of it.
    var state: Int64
    var segment: Int?

    static let byteLimit = RepositoryFormat.documentBytes

    func check() throws(OutOfLimits) {
        try require("version", version, in: 1...1)
        try require("repository", repository, digits: 32)
        try require("line", line, digits: 32)
        try require("before", before, digits: 32)
        try require("state", state, in: 0...SegmentName.times.upperBound)
        try require("segment", segment, in: RepositoryFormat.sequences)
    }

    /// Beside the file itself, if the path is a link.
    static func path(_ database: String) -> String {
        ((try? FileMetadata.resolvedPath(database)) ?? database) + ".promoted"
    }

    /// Nil if there is none.
    static func read(_ database: String) throws -> PromotedDatabase? { try stored(at: path(database)) }

    func write(_ database: String) throws { try store(at: Self.path(database)) }
}
