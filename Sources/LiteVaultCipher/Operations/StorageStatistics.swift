package import LiteVaultCore

/// What the tables and indexes of a database take in its file.
package struct StorageStatistics: Sendable {
    /// How sizes were found.
    package enum Method: String, Sendable {
        /// Every page was counted, by the engine's table `dbstat`.
        case pages
        /// The engine has no `dbstat`: only the values of each table were added up.
        case values
    }

    /// A table or an index.
    package struct Tree: Sendable {
        package let name: String
        package let isIndex: Bool
        /// The table that an index belongs to; a table's own name.
        package let table: String
        package var rows: Int64?
        /// The number of pages; nil where they cannot be counted.
        package var pages: Int64?
        /// The bytes that rows or entries take within their pages. By values: texts and blobs as they are stored, and 8 for a
        /// number; nil for an index.
        package var payload: Int64?
        /// The bytes within its pages that are not used; nil where pages cannot be counted.
        package var unused: Int64?
    }

    package let method: Method
    /// In bytes.
    package let pageSize: Int64
    package let pageCount: Int64
    package let freePages: Int64
    /// The largest first.
    package let trees: [Tree]

    /// Pages that belong to no table or index and are not free: pointer maps of auto-vacuum; nil where pages cannot be counted.
    package var otherPages: Int64? {
        guard method == .pages else { return nil }
        return pageCount - freePages - trees.reduce(0) { $0 + ($1.pages ?? 0) }
    }

    /// Measures a database. It reads all of it, and takes memory for one row at most.
    ///
    /// - Parameter connection: a connection in a read transaction.
    /// - Throws: `DatabaseError`, where it cannot be read.
    package init(of connection: Connection) throws {
        pageSize = try connection.pageSize()
        pageCount = try connection.integer("page_count")
        freePages = try connection.integer("freelist_count")
        let objects = try SchemaObject.all(of: connection).filter(\.hasPages)
        let schema = Tree(name: "sqlite_schema", isIndex: false, table: "sqlite_schema")
        var trees =
            [schema] + objects.map { Tree(name: $0.name, isIndex: $0.type == "index", table: $0.tableName) }
        let hasPages = try Self.countPages(of: &trees, connection)
        method = hasPages ? .pages : .values
        for index in trees.indices where !trees[index].isIndex {
            try Self.countRows(of: &trees[index], hasPages, connection)
        }
        self.trees = trees.sorted {
            ($1.pages ?? $1.payload ?? -1, $0.name) < ($0.pages ?? $0.payload ?? -1, $1.name)
        }
    }

    /// - Returns: false where the engine was built without `SQLITE_ENABLE_DBSTAT_VTAB`.
    private static func countPages(of trees: inout [Tree], _ connection: Connection) throws -> Bool {
        do { _ = try connection.prepare("SELECT name FROM dbstat LIMIT 0") } catch let error as DatabaseError
            where error.resultCode.primary == .error
        {
            return false
        }
        var found: [ExactText: (pages: Int64, payload: Int64, unused: Int64)] = [:]
        try connection.forEach("SELECT name, count(*), sum(payload), sum(unused) FROM dbstat GROUP BY name") { row in
            found[ExactText(try row.get(0))] = (try row.get(1), try row.get(2), try row.get(3))
        }
        for index in trees.indices {
            let name = trees[index].name
            guard let sizes = found[ExactText(name)] ?? (name == "sqlite_schema" ? found["sqlite_master"] : nil) else {
                continue
            }
            trees[index].pages = sizes.pages
            trees[index].payload = sizes.payload
            trees[index].unused = sizes.unused
        }
        return true
    }

    /// A table whose rows need a function or collation of its application stays without a number.
    private static func countRows(of tree: inout Tree, _ hasPages: Bool, _ connection: Connection) throws {
        let isSchema = tree.name == "sqlite_schema"
        let table: SQL = isSchema ? "sqlite_master" : "\(table: tree.name, in: "main")"
        do {
            if hasPages {
                tree.rows = try connection.value("SELECT count(*) FROM \(table)", as: Int64.self)
                return
            }
            let columns = isSchema ? ["type", "name", "tbl_name", "rootpage", "sql"] : nil
            let lengths = try (columns ?? TableShape(tree.name, in: connection).columns).map { column in
                "CASE typeof(\(quoted(column))) WHEN 'null' THEN 0 WHEN 'integer' THEN 8 WHEN 'real' THEN 8"
                    + " ELSE \(TableShape.length(of: column)) END"
            }
            // One sum for each column: a long chain of additions would be too deep an expression.
            let sums = lengths.map { "total(\($0))" }.joined(separator: ", ")
            tree.rows = try connection.value("SELECT count(*) FROM \(table)", as: Int64.self)
            guard !lengths.isEmpty else { return }
            try connection.forEach("SELECT \(sql: sums) FROM \(table)") { row in
                var sum: Double = 0
                for index in 0..<row.count { sum += try row.get(index, as: Double.self) }
                tree.payload = Int64(exactly: sum.rounded())
            }
        } catch let error as DatabaseError where error.needsItsApplication {}
    }
}
