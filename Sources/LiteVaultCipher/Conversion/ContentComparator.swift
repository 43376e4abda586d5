package import LiteVaultCore

/// Compares all content of two databases, value by value: schema, rows with their rowids, and what the header holds.
package struct ContentComparator {
    private let left: Connection
    private let right: Connection

    /// Both are inside read transactions of the caller, or are used by nobody else.
    package init(_ left: Connection, _ right: Connection) {
        self.left = left
        self.right = right
    }

    /// Compares.
    ///
    /// - Parameter report: called now and then with the number of rows compared so far; it may throw to end it.
    /// - Throws: `VaultError` (`internalFailure`) that names the first difference, `DatabaseError` when one of them
    ///   cannot be read, and what `report` throws.
    package func compare(rows report: (Int64) throws -> Void = { _ in }) throws {
        for field in ["encoding", "auto_vacuum", "user_version", "application_id"] {
            let values = try (left.scalar("PRAGMA \(field)"), right.scalar("PRAGMA \(field)"))
            guard String(describing: values.0) == String(describing: values.1) else {
                throw difference("PRAGMA \(field)")
            }
        }
        let objects = try SchemaObject.all(of: left)
        let others = try SchemaObject.all(of: right)
        guard objects.sorted(by: Self.order) == others.sorted(by: Self.order) else { throw difference("the schema") }
        var compared: Int64 = 0
        for table in objects where table.isStoredTable {
            try compareRows(of: table.name, &compared, report)
        }
        try report(compared)
    }

    private static func order(_ one: SchemaObject, _ other: SchemaObject) -> Bool {
        (one.type, one.name) < (other.type, other.name)
    }

    private func compareRows(of table: String, _ compared: inout Int64, _ report: (Int64) throws -> Void) throws {
        let selection = try TableShape(table, in: left).selection
        let others = try right.prepare(selection)
        try right.withLock {
            defer { others.reset() }
            try left.forEachRow(selection) { row in
                guard try others.step(), others.isCurrentRowEqual(to: row) else {
                    throw difference("the table '\(table)'")
                }
                compared += 1
                if compared % 1000 == 0 { try report(compared) }
            }
            guard try !others.step() else { throw difference("the table '\(table)'") }
        }
    }

    private func difference(_ what: String) -> VaultError {
        VaultError(
            .internalFailure, "The copy differs from its source in \(what)",
            remedy: "The source is unchanged and the copy was not published. Verify the source.")
    }
}
