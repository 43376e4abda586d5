internal import LiteVaultCore

extension Connection {
    /// What the columns of a query are called, for look-up by expressions: as the query writes them; those that `*`
    /// stands for by their names, with their table where tables are joined.
    func columns(of query: any QueryType, _ statement: Statement) throws -> RowColumns {
        let names = statement.columnNames
        var keys: [String] = []
        for column in query.clauses.columns {
            let text = SQLExpression<Void>(root: column).template
            guard text == "*" || text.hasSuffix(".*") else {
                keys.append(text)
                continue
            }
            if text == "*", query.clauses.columns.count == 1, query.clauses.joins.isEmpty {
                keys += names.map(quoted)
            } else {
                keys += try keysOfStar(text, in: query)
            }
        }
        // A compound or a changed schema may differ from what was foreseen: the statement's own names hold then.
        return RowColumns(names: names, keys: keys.count == names.count ? keys : nil)
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
            var star = table.select(*)
            star.clauses.joins = []
            star.clauses.condition = nil
            star.clauses.grouping = []
            star.clauses.compounds = []
            star.clauses.order = []
            star.clauses.limit = nil
            star.clauses.with = query.clauses.with
            star.clauses.isRecursive = query.clauses.isRecursive
            builder.append(star.selectNode)
            let names = try prepare(builder.sql, builder.bindings).columnNames.map(quoted)
            return withTable ? names.map { name(of: table) + "." + $0 } : names
        }
    }

    private func name(of table: any QueryType) -> String { SQLExpression<Void>(root: table.tableName).template }
}
