package import LiteVaultCore

/// What differs between the content of two databases: schema, rows and the numbers in the header that applications set.
///
/// Statistics of the engine (`sqlite_stat…`), the page size, auto-vacuum and free pages do not belong to it.
package struct ContentDifference: Sendable {
    /// What happened to an object of the schema, or a row, from the left database to the right one.
    package enum Change: String, Sendable {
        case added
        case removed
        case changed
    }

    package struct Table: Sendable {
        package let name: String
        /// What happened to its definition; nil if it is the same.
        package var definition: Change?
        package var added: Int64 = 0
        package var removed: Int64 = 0
        package var changed: Int64 = 0
        /// Whether rows were matched by their keys. If not, all of the left count as removed and all of the right as added.
        package var isMatched = true

        package var isDifferent: Bool { definition != nil || added + removed + changed > 0 }
    }

    /// An index, view or trigger that differs.
    package struct Object: Sendable {
        package let type: String
        package let name: String
        package let change: Change
    }

    /// A field of the header that differs.
    package struct Setting: Sendable {
        package let name: String
        package let left: String
        package let right: String
    }

    package internal(set) var settings: [Setting] = []
    package internal(set) var tables: [Table] = []
    package internal(set) var objects: [Object] = []
    /// Virtual tables whose definitions differ.
    package internal(set) var virtualTables: [Object] = []

    package var isEmpty: Bool { settings.isEmpty && tables.isEmpty && objects.isEmpty && virtualTables.isEmpty }

    /// Compares two databases. Memory does not grow with them: it takes a row or two of each.
    ///
    /// Rows are matched by rowid, or by the primary key of a table WITHOUT ROWID.
    ///
    /// - Parameter left: a connection in a read transaction.
    /// - Throws: `VaultError` `unsupported` for a table in the order of a collation that the engine does not know; `DatabaseError` when one of
    ///   them cannot be read.
    package init(from left: Connection, to right: Connection) throws {
        for field in ["encoding", "user_version", "application_id"] {
            let values = try (left.untypedValue("PRAGMA \(field)"), right.untypedValue("PRAGMA \(field)"))
            let texts = (Self.text(values.0), Self.text(values.1))
            if texts.0 != texts.1 { settings.append(Setting(name: field, left: texts.0, right: texts.1)) }
        }
        let (old, new) = (try SchemaContent(left), try SchemaContent(right))
        for name in Set(old.tables.keys).union(new.tables.keys).map(\.text).sorted(by: isBefore) {
            let table: Table
            do { table = try Self.table(name, old, new) } catch let error as DatabaseError
                where error.isUnknownCollation
            {
                // A table WITHOUT ROWID, in whose order the engine cannot read.
                throw VaultError(
                    .unsupported,
                    "the table '\(name)' is in the order of a collation that only its application defines",
                    path: try Self.isReadable(name, left) ? right.description : left.description,
                    remedy: "Dump the other tables of both (dump --table), and compare the dumps.", cause: error)
            }
            if table.isDifferent { tables.append(table) }
        }
        if old.sequence != new.sequence {
            var table = Table(name: "sqlite_sequence")
            for (name, numbers) in old.sequence where new.sequence[name] != numbers {
                if new.sequence[name] == nil { table.removed += 1 } else { table.changed += 1 }
            }
            table.added = Int64(new.sequence.keys.filter { old.sequence[$0] == nil }.count)
            tables.append(table)
        }
        objects = Self.objects(old.others, new.others)
        virtualTables = Self.objects(old.virtualTables, new.virtualTables)
    }

    /// Whether the engine knows the collations of a table's columns.
    private static func isReadable(_ table: String, _ database: Connection) throws -> Bool {
        let columns = try database.all("PRAGMA table_info(\(table: table))") { try $0.get(1, as: String.self) }
        do {
            for column in columns {
                try database.run("SELECT 1 FROM \(table: table) ORDER BY \(identifier: column) LIMIT 0")
            }
            return true
        } catch let error as DatabaseError where error.isUnknownCollation {
            return false
        }
    }

    private static func text(_ value: (any Binding)?) -> String {
        switch StoredValue(value) {
        case .integer(let number): String(number)
        case .text(let text): text
        default: ""
        }
    }

    private static func table(_ name: String, _ left: SchemaContent, _ right: SchemaContent) throws -> Table {
        var table = Table(name: name)
        guard let old = left.tables[ExactText(name)] else {
            table.definition = .added
            table.added = try right.count(name)
            return table
        }
        guard let new = right.tables[ExactText(name)] else {
            table.definition = .removed
            table.removed = try left.count(name)
            return table
        }
        if !old.isDefined(as: new) { table.definition = .changed }
        let keys = (try RowKey(name, in: left.connection), try RowKey(name, in: right.connection))
        guard let key = keys.0, key == keys.1 else {
            table.isMatched = false
            guard try !RowMerge.isEqual(name, left.connection, right.connection) else { return table }
            table.removed = try left.count(name)
            table.added = try right.count(name)
            return table
        }
        try RowMerge(key, left.connection, right.connection).forEach { change, _, _ in
            switch change {
            case .added: table.added += 1
            case .removed: table.removed += 1
            case .changed: table.changed += 1
            }
        }
        return table
    }

    private static func objects(_ old: [SchemaObject], _ new: [SchemaObject]) -> [Object] {
        var found: [Object] = []
        for object in old {
            let other = new.first { $0.isSame(object) }
            if let other, other.isDefined(as: object) { continue }
            found.append(Object(type: object.type, name: object.name, change: other == nil ? .removed : .changed))
        }
        for object in new where !old.contains(where: { $0.isSame(object) }) {
            found.append(Object(type: object.type, name: object.name, change: .added))
        }
        return found.sorted { $0.type != $1.type ? $0.type < $1.type : isBefore($0.name, $1.name) }
    }
}

struct SchemaContent {
    let connection: Connection
    /// Tables with rows of their own, shadow tables included.
    let tables: [ExactText: SchemaObject]
    let virtualTables: [SchemaObject]
    /// Indexes, views and triggers that have a statement, in the order of their creation.
    let others: [SchemaObject]
    /// The rows of `sqlite_sequence`; a name may have several.
    let sequence: [ExactText: [ExactText]]
    let hasSequence: Bool

    init(_ connection: Connection) throws {
        self.connection = connection
        let all = try SchemaObject.allExact(of: connection)
        let named = all.filter { $0.type == "table" && !$0.name.hasPrefix("sqlite_") }
        tables = Dictionary(named.filter(\.hasPages).map { (ExactText($0.name), $0) }) { first, _ in first }
        virtualTables = named.filter { !$0.hasPages }
        others = all.filter { $0.type != "table" && $0.sql != nil }
        hasSequence = all.contains(where: \.isSequenceTable)
        var sequence: [ExactText: [ExactText]] = [:]
        if hasSequence {
            // In old engines, quote() of a number returns a number.
            try connection.forEach("SELECT name, CAST(quote(seq) AS TEXT) FROM sqlite_sequence ORDER BY rowid") { row in
                sequence[ExactText(try row.get(0, as: String?.self) ?? ""), default: []].append(
                    ExactText(try row.get(1)))
            }
        }
        self.sequence = sequence
    }

    func count(_ table: String) throws -> Int64 {
        try connection.value("SELECT count(*) FROM \(table: table, in: "main")", as: Int64.self)
    }
}
