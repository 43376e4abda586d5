internal import LiteVaultCore

// Whether full-text indexes agree with their content. `integrity_check` looks at their tables as at any others, and since SQLite 3.44 at
// the indexes themselves, but not at the content of those that leave it in a table of the application.
extension Verification {
    /// Runs the check of each full-text index: the command `integrity-check` of its module (https://sqlite.org/fts5.html,
    /// https://sqlite.org/fts3.html). Call it in a read transaction of the connection.
    ///
    /// The command changes nothing, but is an INSERT, which the engine runs on no read-only connection: it gets one that it takes for
    /// writable, to the same image.
    mutating func checkFullText(_ connection: Connection, _ image: ReadOnlyImage) throws {
        guard report.isIntact else { return }
        let indexes = try connection.all(
            "SELECT name, sql FROM main.sqlite_master WHERE type = 'table' AND sql LIKE 'CREATE VIRTUAL TABLE %'"
        ) { FullTextIndex(name: try $0.get(0, as: String.self), sql: try $0.get(1, as: String.self)) }
        let checked = indexes.compactMap { $0 }
        guard !checked.isEmpty else { return }
        try image.open(unlocker?.unlocking(file.path, lockTimeout: .zero), writable: true) { writer in
            for index in checked {
                try progress(.init(.checking, 0, of: nil, .pages))
                try check(index, writer)
            }
        }
    }

    private mutating func check(_ index: FullTextIndex, _ writer: Connection) throws {
        try writer.execute("BEGIN")
        defer { try? writer.execute("ROLLBACK") }
        do {
            try writer.run(SQL(sql: index.command))
        } catch let error as DatabaseError where error.resultCode.primary == .corrupt {
            report.add(
                .structure,
                "The full-text index '\(index.name)' does not agree with its content: its command 'rebuild' makes it again"
            )
        } catch let error as DatabaseError where error.code != ResultCode.interrupt.rawValue {
            // A tokenizer or module that only the application has, or a table of the content that is gone.
            report.unchecked.append(
                .init(.structure, "The full-text index '\(index.name)' could not be checked: \(error.message)"))
        }
    }
}

private struct FullTextIndex {
    let name: String
    /// The statement that checks it.
    let command: String

    /// - Returns: nil for a virtual table of another module, and for an index of FTS4 without content: there is nothing to compare it with.
    init?(name: String, sql: String) {
        guard let text = VirtualTableText(sql) else { return nil }
        self.name = name
        let table = quoted(name)
        switch text.module {
        case "fts5":
            // With a rank, the content is compared also where it is a table of the application.
            command = "INSERT INTO \(table)(\(table), rank) VALUES ('integrity-check', 1)"
        case "fts3", "fts4":
            guard !text.keepsNoContent else { return nil }
            command = "INSERT INTO \(table)(\(table)) VALUES ('integrity-check')"
        default: return nil
        }
    }
}
