internal import LiteVaultCore
internal import LiteVaultQuery

/// A column of a primary key, with its type as declared.
struct KeyColumnInfo: Equatable {
    let name: String
    let type: ColumnType?
}

/// Finds the primary keys that foreign keys refer to: in the database, and for a table that is being made, in its
/// definition.
struct KeyResolver {
    let connection: Connection
    /// The table that is being made or changed.
    let table: String
    /// Its primary key as it is being defined; nil where the table is in the database.
    let ownKey: [KeyColumnInfo]?

    /// The primary key of a table.
    ///
    /// - Throws: `QueryError.noSuchTable`, `SchemaBuilderError.noPrimaryKey`, `DatabaseError`
    func primaryKey(of other: String) throws -> [KeyColumnInfo] {
        let key: [KeyColumnInfo]
        if let ownKey, SchemaName.isSame(other, table) {
            key = ownKey
        } else {
            guard let found = try Self.storedKey(of: other, connection) else {
                throw QueryError.noSuchTable(name: other)
            }
            key = found
        }
        guard !key.isEmpty else { throw SchemaBuilderError.noPrimaryKey(table: other) }
        return key
    }

    /// The columns of a table that some columns refer to.
    func columns(of other: String, for columns: [String]) throws -> [String] {
        let key = try primaryKey(of: other).map(\.name)
        guard key.count == columns.count else {
            throw SchemaBuilderError.foreignKeyMismatch(table: other, columns: columns, primaryKey: key)
        }
        return key
    }

    /// The table that `belongsTo` means by a name: one that is called so, or by a plural of it. A number at the end, as in
    /// `player1` and `player2`, tells apart several that the row belongs to.
    func table(for name: String) throws -> String {
        let candidates = Self.candidates(for: name)
        if ownKey != nil {
            let isOwn =
                candidates.contains { SchemaName.isSame($0, table) }
                || Self.candidates(for: table).contains { SchemaName.isSame($0, name) }
            if isOwn { return SchemaName.isSame(table, name) ? name : table }
        }
        for candidate in candidates where try Self.storedKey(of: candidate, connection) != nil { return candidate }
        throw QueryError.noSuchTable(name: name)
    }

    private static func candidates(for name: String) -> [String] {
        var names = [name] + EnglishNoun.plurals(name)
        let digits = name.reversed().prefix { $0.isASCII && $0.isNumber }.count
        let stem = String(name.dropLast(digits))
        if digits > 0, !stem.isEmpty {
            let plurals = EnglishNoun.plurals(stem)
            names += plurals.map { $0 + name.suffix(digits) } + [stem] + plurals
        }
        return names
    }

    /// The primary key of a table in the database, in the order of its declaration; empty for none (`PRAGMA
    /// table_info`). nil when there is no such table.
    static func storedKey(of table: String, _ connection: Connection) throws -> [KeyColumnInfo]? {
        let rows = try connection.all("PRAGMA table_info(\(quoted(table)))") { row in
            (
                name: try row.get(1, as: String.self), type: try row.get(2, as: String?.self) ?? "",
                position: try row.get(5, as: Int.self)
            )
        }
        guard !rows.isEmpty else { return nil }
        return rows.filter { $0.position > 0 }.sorted { $0.position < $1.position }.map {
            KeyColumnInfo(name: $0.name, type: $0.type.isEmpty ? nil : ColumnType(rawValue: $0.type))
        }
    }
}

/// How names are compared.
enum SchemaName {
    /// Whether two names mean the same object: A to Z have no case.
    static func isSame(_ name: String, _ other: String) -> Bool { folded(name) == folded(other) }

    /// For dictionaries and sets.
    static func folded(_ name: String) -> [UInt8] {
        name.utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }
}
