internal import LiteVault
internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The database of a shell while it is used: a connection, and what it was opened with.
struct ShellDatabase {
    let connection: Connection
    let opening: ShellOpening

    /// From here on, no statement changes what protects the database.
    init(connection: Connection, opening: ShellOpening) throws {
        try connection.guardSettings()
        (self.connection, self.opening) = (connection, opening)
    }

    /// Runs one statement and prints its rows.
    ///
    /// - Throws: as ``GivenSQL``; `usage` for one that changes a database that is only read; what the engine throws.
    func run(_ sql: String, _ settings: ShellSettings, _ stream: ResultStream) throws {
        try GivenSQL.run(sql, on: connection) { try execute(sql, settings, stream) }
    }

    private func execute(_ sql: String, _ settings: ShellSettings, _ stream: ResultStream) throws {
        if opening.isReadOnly,
            let word = SQLTokens(sql).first(where: { $0.kind == .word }).map({ foldedName($0.text) }),
            ["begin", "commit", "end", "rollback", "savepoint", "release"].contains(word)
        {
            throw Failure(.usage, "with --read-only the whole shell is one transaction", remedy: "Leave it out.")
        }
        let statement = try connection.prepare(sql)
        guard !opening.isReadOnly || statement.isReadOnly else {
            throw Failure(
                .usage, "this statement changes the database", remedy: "Start the shell without --read-only.")
        }
        let names = statement.columnNames
        let values = try settings.bindings(of: statement)
        try interruptible {
            guard !names.isEmpty else {
                _ = try values.map { try statement.run(with: $0) } ?? statement.run()
                return
            }
            let printer = settings.format.printer(stream, names, settings.style)
            let print = { (row: borrowing RowView) in
                // Nobody reads the rest. A statement that changes something runs to its end.
                if stream.isClosed, statement.isReadOnly { throw ResultStream.Closed() }
                try printer.row((0..<names.count).map { try row.get($0, as: StoredValue.self) })
            }
            do {
                if let values {
                    try statement.forEach(with: values, body: print)
                } else {
                    try statement.forEach(body: print)
                }
                try printer.end()
            } catch is ResultStream.Closed where stream.isClosed {}
        }
        guard settings.showsChanges, !statement.isReadOnly else { return }
        let line = try connection.value(
            "SELECT 'changes: ' || changes() || '   total_changes: ' || total_changes()", as: String.self)
        try stream.append(line + "\n")
    }

    /// Does work of the connection that a signal stops.
    ///
    /// - Throws: what the work throws; a `Failure` when Ctrl-C stopped it and the shell continues.
    func interruptible<T>(_ work: () throws -> T) throws -> T {
        // The connection is closed in order when a signal ends the shell.
        let token = Interruption.shared.onEnd { [connection] in connection.interrupt() }
        defer { Interruption.shared.remove(token) }
        guard opening.isInteractive else { return try work() }
        let wasInTransaction = connection.isInTransaction
        do {
            return try Interruption.shared.stoppable(by: { [connection] in connection.interrupt() }, work)
        } catch let error as DatabaseError where error.resultCode.primary == .interrupt {
            // The engine rolls back when it stops a statement that writes.
            let isLost = wasInTransaction && !connection.isInTransaction
            throw Failure(
                .usage, isLost ? "interrupted; the transaction was rolled back" : "interrupted",
                remedy: isLost ? "Begin it again." : nil)
        }
    }

    /// Refuses a file that a command names and that the connection has open: a database, or the log, index or journal of one. Closing a
    /// second descriptor of it would drop the locks that the engine holds on it, a transaction's included.
    ///
    /// - Throws: `usage` for such a file.
    func refuseOpenFile(_ path: String) throws {
        let named = try withErrorContext(path: path) { try FileMetadata.ifExists(path: path, followingLinks: true) }
        guard let named else { return }
        let files = try connection.all("PRAGMA database_list") { row in try row.get(2, as: String?.self) ?? "" }
        for file in files + [opening.path] where !file.isEmpty {
            for suffix in ["", "-wal", "-shm", "-journal"] {
                let own = try? FileMetadata.ifExists(path: file + suffix, followingLinks: true)
                guard let own, own.isSameFile(as: named) else { continue }
                throw Failure(
                    .usage, "this \(suffix.isEmpty ? "is" : "file belongs to") a database that is open", path: path,
                    remedy: "Name another file.")
            }
        }
    }

    /// The plan of a statement, as a tree.
    func explain(_ sql: String) throws -> [String] {
        var depths: [Int64: Int] = [:]
        return try GivenSQL.run(sql, on: connection) {
            try connection.all("EXPLAIN QUERY PLAN \(sql: sql)") { row in
                // Before SQLite 3.24 the steps have no parents.
                let isTree = row.columnNames[1] == "parent"
                let depth = try isTree ? depths[row.get(1, as: Int64.self), default: -1] + 1 : 0
                depths[try row.get(0, as: Int64.self)] = depth
                return String(repeating: "  ", count: depth) + Format.visible(try row.get(3, as: String.self))
            }
        }
    }

    /// The names of tables and views; of those that LIKE finds by a pattern.
    func tables(like pattern: String? = nil) throws -> [String] {
        try connection.all(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite@_%' ESCAPE '@'"
                + " AND (?1 IS NULL OR name LIKE ?1) ORDER BY name", with: pattern, as: String.self)
    }

    /// The names of indexes; of those of one table.
    func indexes(of table: String?) throws -> [String] {
        try connection.all(
            "SELECT name FROM sqlite_master WHERE type = 'index' AND (?1 IS NULL OR lower(tbl_name) = lower(?1)) ORDER BY name",
            with: table, as: String.self)
    }

    /// The databases of the connection, with their files and whether they can be changed.
    func databases() throws -> [String] {
        try connection.all("PRAGMA database_list") { row in
            let (name, file) = (try row.get(1, as: String.self), try row.get(2, as: String?.self) ?? "")
            return "\(name): \(file) \(opening.isReadOnly ? "r/o" : "r/w")"
        }
    }

    /// The statements of the schema; of one table or view with what belongs to it.
    ///
    /// - Throws: `VaultError` `unsupported` where other SQL follows one of them.
    func schema(of name: String?) throws -> [String] {
        let definitions = try connection.all(
            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND (?1 IS NULL OR lower(tbl_name) = lower(?1)"
                + " OR lower(name) = lower(?1)) ORDER BY rowid", with: name, as: String.self)
        guard definitions.allSatisfy(Quoting.isSingleDefinition) else {
            throw VaultError(
                .unsupported, "A definition is not a single CREATE statement",
                remedy: "'SELECT name, sql FROM sqlite_master;' shows it.")
        }
        return definitions.map(Quoting.definitionStatement)
    }
}
