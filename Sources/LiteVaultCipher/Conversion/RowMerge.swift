internal import LiteVaultCore

/// How the rows of a table are told apart.
struct RowKey: Equatable {
    struct Column: Equatable {
        let column: ExactText
        let collation: String
        let isDescending: Bool

        var name: String { column.text }
    }

    let table: String
    let shape: TableShape
    /// The columns of the primary key of a table WITHOUT ROWID; empty where the rowid is the key.
    let columns: [Column]

    static func == (one: RowKey, other: RowKey) -> Bool {
        isSameText(one.table, other.table) && one.shape.rowidAlias == other.shape.rowidAlias
            && one.shape.columns.elementsEqual(other.shape.columns, by: isSameText) && one.columns == other.columns
    }

    /// Nil for a table with rowids that cannot be named, because columns have all of their names.
    init?(_ table: String, in connection: Connection) throws {
        self.table = table
        shape = try TableShape(table, in: connection)
        guard shape.rowidAlias == nil else {
            columns = []
            return
        }
        let indexes = try connection.all("PRAGMA main.index_list(\(table: table))") {
            (try $0.get(1, as: String.self), try $0.get(3, as: String.self))
        }
        guard let primary = indexes.first(where: { $0.1 == "pk" })?.0 else { return nil }
        var found: [Column?] = []
        var tail = 0
        try connection.forEach("PRAGMA main.index_xinfo(\(identifier: primary))") { row in
            guard try row.get(5, as: Int.self) != 0 else {
                // An index of a table with rowids ends with the rowid.
                if try row.get(1, as: Int.self) == -1 { tail += 1 }
                return
            }
            let name = try row.get(2, as: String?.self)
            let collation = try row.get(4, as: String?.self) ?? "BINARY"
            let isDescending = try row.get(3, as: Int.self) != 0
            found.append(name.map { Column(column: ExactText($0), collation: collation, isDescending: isDescending) })
        }
        columns = found.compactMap { $0 }
        guard tail == 0, !columns.isEmpty, columns.count == found.count else { return nil }
    }

    /// The columns of a row: those of the key first.
    var names: [String] {
        (shape.rowidAlias.map { [$0] } ?? columns.map { quoted($0.name) }) + shape.columns.map(quoted)
    }

    /// How many of ``names`` are the key.
    var width: Int { max(1, columns.count) }

    /// The columns to insert into, and where they are in ``names``: a rowid, and all stored columns.
    var insertion: (names: [String], first: Int) {
        shape.rowidAlias == nil ? (shape.columns.map(quoted), width) : (names, 0)
    }

    /// Selects all rows in the order of their keys, as the table's own tree has them.
    var selection: String {
        let order =
            shape.rowidAlias
            ?? columns.map { "\(quoted($0.name)) COLLATE \(quoted($0.collation))\($0.isDescending ? " DESC" : "")" }
            .joined(separator: ", ")
        return "SELECT \(names.joined(separator: ", ")) FROM main.\(quoted(table)) NOT INDEXED ORDER BY \(order)"
    }

    /// Selects the row of a table WITHOUT ROWID whose key has the values that are bound.
    var lookup: String {
        let conditions = columns.map { "\(quoted($0.name)) COLLATE \(quoted($0.collation)) = ?" }
        return "SELECT \(names.joined(separator: ", ")) FROM main.\(quoted(table)) "
            + "WHERE \(conditions.joined(separator: " AND "))"
    }
}

/// Walks through the rows of a table in two databases at the same time, in the order of their keys.
struct RowMerge {
    private let key: RowKey
    private let left: Connection
    private let right: Connection
    /// The encoding of text in both; nil if they have different ones.
    private let encoding: TextEncoding?
    /// Compare one column of the key each, as the table does.
    private let comparisons: [Statement]

    init(_ key: RowKey, _ left: Connection, _ right: Connection) throws {
        self.key = key
        self.left = left
        self.right = right
        encoding = try Self.encoding(of: left, right)
        comparisons = try key.columns.map { column in
            let values = "?1 COLLATE \(quoted(column.collation))"
            return try left.prepare("SELECT CASE WHEN \(values) = ?2 THEN 0 WHEN \(values) < ?2 THEN -1 ELSE 1 END")
        }
    }

    /// Calls `body` for each row that differs, with the current rows of both sides: that of a side that lacks the row is another.
    func forEach(_ body: (ContentDifference.Change, Statement, Statement) throws -> Void) throws {
        guard encoding != nil || key.columns.isEmpty else { return try forEachFound(body) }
        let (one, other) = (try left.prepare(key.selection), try right.prepare(key.selection))
        defer {
            one.clear()
            other.clear()
        }
        var (hasOne, hasOther) = (try one.advance(), try other.advance())
        while hasOne || hasOther {
            let order = hasOne && hasOther ? try compare(one, other) : hasOne ? -1 : 1
            if let change: ContentDifference.Change = order < 0 ? .removed : order > 0 ? .added : nil {
                try body(change, one, other)
            } else if try !Self.areEqual(one, other, encoding) {
                try body(.changed, one, other)
            }
            // After its end a statement would start again.
            if hasOne, order <= 0 { hasOne = try one.advance() }
            if hasOther, order >= 0 { hasOther = try other.advance() }
        }
    }

    /// The same where text has different encodings, and therefore another order by its bytes: each key is looked up in the other table.
    private func forEachFound(_ body: (ContentDifference.Change, Statement, Statement) throws -> Void) throws {
        let (one, other) = (try left.prepare(key.selection), try right.prepare(key.selection))
        let (oneFound, otherFound) = (try left.prepare(key.lookup), try right.prepare(key.lookup))
        defer { for statement in [one, other, oneFound, otherFound] { statement.clear() } }
        while try one.advance() {
            if try !find(one, by: otherFound) {
                try body(.removed, one, otherFound)
            } else if try !Self.areEqual(one, otherFound, encoding) {
                try body(.changed, one, otherFound)
            }
        }
        while try other.advance() {
            if try !find(other, by: oneFound) { try body(.added, oneFound, other) }
        }
    }

    /// Whether a lookup finds the key of the current row of a statement. Its row is then the current one of the lookup.
    private func find(_ statement: Statement, by lookup: Statement) throws -> Bool {
        let values = try key.columns.indices.map { index in
            try Self.value(of: statement, index, as: StoredValue.self).binding
        }
        try lookup.setBindings(values)
        return try lookup.advance()
    }

    /// Whether two tables have the same columns and rows, in the same order.
    static func isEqual(_ table: String, _ left: Connection, _ right: Connection) throws -> Bool {
        let shapes = (try TableShape(table, in: left), try TableShape(table, in: right))
        guard shapes.0.columns.elementsEqual(shapes.1.columns, by: isSameText),
            shapes.0.rowidAlias == shapes.1.rowidAlias
        else { return false }
        let encoding = try Self.encoding(of: left, right)
        let (one, other) = (try left.prepare(shapes.0.selection), try right.prepare(shapes.1.selection))
        defer {
            one.clear()
            other.clear()
        }
        while try one.advance() {
            guard try other.advance(), try areEqual(one, other, encoding) else { return false }
        }
        return try !other.advance()
    }

    private static func encoding(of left: Connection, _ right: Connection) throws -> TextEncoding? {
        let (one, other) = (try TextEncoding(of: left), try TextEncoding(of: right))
        return one == other ? one : nil
    }

    /// Text is compared as it is stored if both have one encoding: converted, two invalid ones may be the same.
    private static func areEqual(_ one: Statement, _ other: Statement, _ encoding: TextEncoding?) throws -> Bool {
        try other.withPrepared { one.isCurrentRowEqual(to: RowView($0), textAsStored: encoding != nil) }
    }

    /// The order of two keys: negative if the left one is first. Keys with columns need text of one encoding.
    private func compare(_ one: Statement, _ other: Statement) throws -> Int {
        guard let encoding, !key.columns.isEmpty else {
            let (a, b) = (try Self.value(of: one, 0, as: Int64.self), try Self.value(of: other, 0, as: Int64.self))
            return a < b ? -1 : a == b ? 0 : 1
        }
        if try Self.areEqual(one, other, encoding) { return 0 }
        for (index, column) in key.columns.enumerated() {
            let (a, b) = (try parameter(one, index, encoding), try parameter(other, index, encoding))
            if a == b { continue }
            var order = 0
            try comparisons[index].forEach(with: a, b) { order = try $0.get(0) }
            if order != 0 { return column.isDescending ? -order : order }
        }
        return 0
    }

    /// A column of the key, exactly: of "é" in two spellings, and of texts that are not valid, the engine knows the order.
    private func parameter(
        _ statement: Statement, _ index: Int, _ encoding: TextEncoding
    ) throws -> ExactParameter {
        ExactParameter(value: try Self.value(of: statement, index, as: ExactValue.self), encoding: encoding)
    }

    private static func value<V: ColumnValue>(of statement: Statement, _ index: Int, as type: V.Type) throws -> V {
        try statement.withPrepared { try RowView($0).get(index) }
    }
}
