internal import LiteVaultCore

extension Connection {
    /// What the columns of a query are called, for look-up by expressions: as the query writes them; those that `*`
    /// stands for by their names, with their table where tables are joined.
    ///
    /// They are kept with the statement. A text does not tell which expressions it was made of, so these are compared;
    /// where `*` may stand for the columns of several tables, other tables can hide behind the same text.
    func columns(of query: any QueryType, _ statement: PreparedStatement) throws -> RowColumns {
        let clauses = query.clauses
        let isSimple = clauses.rare == nil
        return try statement.rowColumns(
            isSame: { origin in
                guard isSimple, let origin = origin as? SelectedColumns, origin.isSimple else { return false }
                return SQLNode.areSame(origin.nodes, clauses.columns)
            },
            make: { names in
                let columns = RowColumns(names: names, keys: try keys(of: query, names))
                return (columns, SelectedColumns(clauses.columns, isSimple: isSimple))
            })
    }

    private func keys(of query: any QueryType, _ names: [String]) throws -> [String]? {
        var keys: [String] = []
        for column in query.clauses.columns {
            let text = column.template
            guard text == "*" || text.hasSuffix(".*") else {
                keys.append(text)
                continue
            }
            // Names that are quoted are what columns are called without anybody's help.
            if text == "*", query.clauses.columns.count == 1, query.clauses.joins.isEmpty { return nil }
            keys += try keysOfStar(text, in: query)
        }
        // A compound or a changed schema may differ from what was foreseen: the statement's own names hold then.
        return keys.count == names.count ? keys : nil
    }

    private func keysOfStar(_ text: String, in query: any QueryType) throws -> [String] {
        let tables = [query] + query.clauses.joins.map(\.table)
        let namespace = text.dropLast(2)
        let isQualified = text != "*"
        let meant = isQualified ? tables.filter { name(of: $0) == namespace } : tables
        guard !meant.isEmpty else { throw QueryError.noSuchTable(name: String(namespace)) }
        let withTable = isQualified || tables.count > 1
        return try meant.prefix(isQualified ? 1 : tables.count).flatMap { table -> [String] in
            // Names of the query's own WITH clause count as tables here.
            var builder = SQLBuilder()
            var star = table.selecting([.text("*")], isDistinct: false)
            star.clauses.joins = []
            star.clauses.condition = nil
            star.clauses.grouping = []
            star.clauses.compounds = []
            star.clauses.order = []
            star.clauses.limit = nil
            star.clauses.with = query.clauses.with
            star.clauses.isRecursive = query.clauses.isRecursive
            builder.append(star.clauses)
            let names = try prepare(builder.sql, builder.bindings).columnNames.map(quoted)
            return withTable ? names.map { name(of: table) + "." + $0 } : names
        }
    }

    private func name(of table: any QueryType) -> String { SQLExpression<Void>(root: table.tableName).template }
}

/// What the columns of a statement's rows were found from.
private final class SelectedColumns {
    let nodes: [SQLNode]
    /// Whether the query has no joins, and no other clause that could name a table.
    let isSimple: Bool

    init(_ nodes: [SQLNode], isSimple: Bool) {
        self.nodes = nodes
        self.isSimple = isSimple
    }
}
