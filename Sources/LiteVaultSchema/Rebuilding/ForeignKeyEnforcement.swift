internal import LiteVaultCore

/// `PRAGMA foreign_keys` for the duration of a change. The engine ignores the setting inside a transaction.
struct ForeignKeyEnforcement {
    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Applies a change with foreign keys enforced or not, and restores the setting.
    ///
    /// - Throws: `VaultError` `insideTransaction` if the setting would have to change inside a transaction; what the
    ///   change throws.
    func with<T>(isEnforced: Bool, _ change: () throws -> T) throws -> T {
        let previous = try connection.integer("foreign_keys") == 1
        guard previous != isEnforced else { return try change() }
        guard !connection.isInTransaction else {
            throw VaultError(
                .insideTransaction,
                "this change needs foreign keys \(isEnforced ? "enforced" : "not enforced"), which cannot be set inside a "
                    + "transaction",
                remedy: "Make it outside, or set `PRAGMA foreign_keys` before the transaction begins.")
        }
        defer { connection.restore(pragma: "foreign_keys", previous) }
        try set(isEnforced)
        return try change()
    }

    /// Applies a change that rebuilds tables, in one transaction.
    ///
    /// While foreign keys are enforced, dropping a table deletes the rows that reference it. So they are not enforced
    /// during the change, and checked before it is committed.
    ///
    /// - Throws: `VaultError`, also `foreignKeyViolation` for rows that would violate foreign keys; what the change throws.
    func rebuilding(_ change: () throws -> Void) throws {
        try with(isEnforced: false) {
            try connection.transaction(.immediate) {
                let before = try ForeignKeyViolations(connection)
                try change()
                let errors = try ForeignKeyViolations(connection, after: before).added(since: before)
                guard errors.isEmpty else {
                    throw VaultError(
                        .foreignKeyViolation, SchemaReader.ViolatedForeignKeys.summary(of: errors),
                        remedy: "Correct them first.", cause: SchemaReader.ViolatedForeignKeys(rows: errors))
                }
            }
        }
    }

    private func set(_ isEnforced: Bool) throws {
        try connection.run("PRAGMA foreign_keys = \(sql: isEnforced ? "ON" : "OFF")")
        // An engine built without foreign keys returns no row and enforces nothing.
        let value = try connection.value("PRAGMA foreign_keys", as: Int64?.self)
        guard value == nil || (value == 1) == isEnforced else {
            throw VaultError(.schemaChangeRefused, "the engine did not turn foreign keys \(isEnforced ? "on" : "off")")
        }
    }
}

extension Connection {
    /// Sets a pragma to what it was before a change, also where statements are refused and interrupted, as by a suspension, or
    /// the transaction of the change has ended.
    func restore(pragma: String, _ isOn: Bool) {
        let sql = "PRAGMA \(pragma) = \(isOn ? "ON" : "OFF")"
        // An interrupt at this moment stops it.
        var attempts = 0
        while attempts < 10, (try? withLock { try runOnce(sql) }) == nil { attempts += 1 }
    }
}

/// The rows that violate foreign keys at one moment, to find out later which violations are new.
///
/// A violation is identified by its row (the rowid, or the primary key without one), the referenced table and the values
/// of the reference. So a second bad reference from the same row, or from another row WITHOUT ROWID, is new, while
/// renaming a column or adding a foreign key does not make an old one new.
struct ForeignKeyViolations {
    private struct Identity: Hashable {
        let table: SQLName
        let row: ExactText
        let parent: SQLName
        let values: ExactText
    }

    /// The foreign key of a table that rows violate.
    private struct Reference: Hashable {
        let name: ExactText
        let parentName: ExactText
        let id: Int64

        var table: String { name.text }
        var parent: String { parentName.text }
    }

    private var found: [(identity: Identity, error: ForeignKeyError)] = []
    /// Whether the engine can check all tables: one whose foreign key does not reference a key, it cannot.
    private var isComplete = true

    /// Reads the violations of the main database. Tables that the engine cannot check are left out.
    ///
    /// - Parameter earlier: the violations before a change. If all tables could be checked then, all have to be.
    /// - Throws: `DatabaseError`, after a change also if a foreign key does not reference a key any more.
    init(_ connection: Connection, after earlier: ForeignKeyViolations? = nil) throws {
        let reader = connection.schema.attached("main")
        var references: [Reference] = []
        var rows: [Reference: [Int64?]] = [:]
        func read(_ check: SQL) throws {
            try connection.forEach(check) { row in
                let reference = Reference(
                    name: ExactText(try row.get(0)), parentName: ExactText(try row.get(2)), id: try row.get(3))
                if rows[reference] == nil { references.append(reference) }
                rows[reference, default: []].append(try row.get(1, as: Int64?.self))
            }
        }
        do { try read("PRAGMA foreign_key_check") } catch let error as DatabaseError
            where error.resultCode.primary == .error && earlier?.isComplete != true
        {
            isComplete = false
            (references, rows) = ([], [:])
            let tables = try connection.all("SELECT name FROM main.sqlite_master WHERE type = 'table'") { row in
                try row.get(0, as: String.self)
            }
            for table in tables {
                do { try read("PRAGMA main.foreign_key_check(\(table: table))") } catch let error as DatabaseError
                    where error.resultCode.primary == .error
                {}
            }
        }
        for reference in references {
            var rows = rows[reference] ?? []
            // Old engines report an arbitrary row number for a table WITHOUT ROWID.
            if try !reader.hasRowids(reference.table) { rows = rows.map { _ in nil } }
            let described = try Self.describe(rows, of: reference, connection)
            for (index, row) in rows.enumerated() {
                found.append(
                    (
                        Identity(
                            table: SQLName(reference.table), row: ExactText(described[index].row),
                            parent: SQLName(reference.parent), values: ExactText(described[index].values)),
                        ForeignKeyError(from: reference.table, rowId: row ?? 0, to: reference.parent)
                    ))
            }
        }
    }

    /// The violations that `earlier` does not have, in time linear in the size of both.
    func added(since earlier: ForeignKeyViolations) -> [ForeignKeyError] {
        var known: [Identity: Int] = [:]
        for violation in earlier.found { known[violation.identity, default: 0] += 1 }
        return found.compactMap { violation in
            guard let count = known[violation.identity], count > 0 else { return violation.error }
            known[violation.identity] = count - 1
            return nil
        }
    }

    /// The identity of each row, and the values of its reference.
    private static func describe(
        _ rows: [Int64?], of reference: Reference, _ connection: Connection
    ) throws -> [(row: String, values: String)] {
        let reader = connection.schema.attached("main")
        let columns = try connection.all("PRAGMA main.foreign_key_list(\(table: reference.table))") { row in
            (
                id: try row.get(0, as: Int64.self), column: try row.get(3, as: String.self),
                other: try row.get(4, as: String?.self)
            )
        }.filter { $0.id == reference.id }
        let own = columns.map { "child.\(quoted($0.column))" }
        guard rows.contains(nil) else {
            guard let alias = try reader.rowidAlias(of: reference.table), !own.isEmpty else {
                return rows.map { (String($0 ?? 0), "") }
            }
            let sql: SQL = """
                SELECT \(sql: text(of: own)) FROM \(table: reference.table, in: "main") AS child WHERE child.\(sql: alias) = ?
                """
            return try rows.map { row in
                (String(row ?? 0), try connection.first(sql, with: row, as: String.self) ?? "")
            }
        }
        // The engine does not identify rows WITHOUT ROWID: this searches for them.
        let key = try reader.primaryKey(of: reference.table).map { $0.map { "child.\(quoted($0.name))" } } ?? []
        let parentKey = try reader.primaryKey(of: reference.parent).map { $0.map(\.name) } ?? []
        var conditions = own.map { "\($0) IS NOT NULL" }
        if try reader.hasTable(reference.parent) {
            let others = columns.enumerated().map { index, column in
                column.other ?? (index < parentKey.count ? parentKey[index] : "rowid")
            }
            let equalities = zip(others, own).map { "parent.\(quoted($0)) = \($1)" }
            conditions.append(
                "NOT EXISTS (SELECT 1 FROM main.\(quoted(reference.parent)) AS parent "
                    + "WHERE \(equalities.joined(separator: " AND ")))")
        }
        let found = try connection.all(
            "SELECT \(sql: text(of: key)), \(sql: text(of: own)) FROM \(table: reference.table, in: "main") AS child "
                + "WHERE \(sql: conditions.joined(separator: " AND "))"
        ) { (row: try $0.get(0, as: String.self), values: try $0.get(1, as: String.self)) }
        // The engine's count is authoritative: it compares with the parent's affinity.
        return found.count == rows.count ? found : rows.map { _ in ("", "") }
    }

    /// An SQL expression for the values of columns as one string.
    private static func text(of columns: [String]) -> String {
        // In old engines, quote() of a number returns a number.
        (["''"] + columns.map { "quote(\($0))" }).joined(separator: " || ',' || ")
    }
}
