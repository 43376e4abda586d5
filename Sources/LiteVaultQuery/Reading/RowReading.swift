public import LiteVaultCore
internal import LiteVaultSystem

// Reading a copied row by the expressions of its query.

extension Row {
    /// Returns the value of a column: `try row.value(of: email)`.
    ///
    /// - Parameter column: the expression as the query selects it. A column may be named without its table where only one
    ///   table has it.
    /// - Returns: the value; for a type that is optional, nil for NULL.
    /// - Throws: `QueryError` when the query has no such column or several candidates, when the value is NULL and the type is
    ///   not optional, and when it is of another type; and what the type's `fromDatatypeValue` throws.
    @inlinable
    public func value<V: Value>(of column: SQLExpression<V>) throws -> V {
        let index = try position(of: column.root)
        guard let value: V = try value(at: index) else { throw nullFailure(index) }
        return value
    }

    /// Returns the value of a column that may be NULL; nil for NULL.
    ///
    /// - Throws: as ``value(of:)``.
    @inlinable
    public func value<V: Value>(of column: SQLExpression<V?>) throws -> V? {
        try value(at: try position(of: column.root))
    }

    /// Reads a value. An error that the type throws gets the column's name.
    @inlinable
    @inline(__always)
    func value<V: Value>(at index: Int) throws -> V? {
        do { return try storedValue(at: index) } catch { throw failure(error, index) }
    }

    @usableFromInline
    func failure(_ error: any Error, _ index: Int) -> any Error {
        guard case QueryError.malformedValue("", let expected) = error else { return error }
        return QueryError.malformedValue(name: columns.keys[index], expected: expected)
    }

    /// Reads a value. Types that SQLite stores natively need no `StoredValue` in between; the compiler resolves their
    /// tests wherever it knows the type.
    @inlinable
    @inline(__always)
    func storedValue<V: Value>(at index: Int) throws -> V? {
        if V.Datatype.self == Int64.self, let number = storage.integer(index),
            let stored = sameType(number, as: V.Datatype.self)
        {
            return try V.fromDatatypeValue(stored) as? V
        }
        if V.Datatype.self == Double.self, let number = storage.real(index),
            let stored = sameType(number, as: V.Datatype.self)
        {
            return try V.fromDatatypeValue(stored) as? V
        }
        if V.Datatype.self == String.self, let text = storage.text(index),
            let stored = sameType(text, as: V.Datatype.self)
        {
            return try V.fromDatatypeValue(stored) as? V
        }
        if storage.isNull(index) { return nil }
        return try convertedValue(at: index)
    }

    @usableFromInline
    func nullFailure(_ index: Int) -> any Error { QueryError.unexpectedNullValue(name: columns.keys[index]) }

    @usableFromInline
    func convertedValue<V: Value>(at index: Int) throws -> V? {
        let stored = storage.stored(index)
        if V.Datatype.self == Date.self, let date = columns.dates.date(of: stored) as? V.Datatype {
            return try V.fromDatatypeValue(date) as? V
        }
        guard let datatypeValue = V.Datatype(stored: stored) else {
            // A type may read more than the type it is stored as: a UUID, and what wraps one, reads 16 bytes, too.
            if let value = try? V.value(of: stored) { return value }
            if V.Datatype.self == Date.self, case .text = stored {
                throw QueryError.malformedValue(name: columns.keys[index], expected: "date")
            }
            throw QueryError.unexpectedType(
                name: columns.keys[index], expected: V.declaredDatatype, found: stored.kind)
        }
        return try V.fromDatatypeValue(datatypeValue) as? V
    }

    /// The position of a column, which is usually known by the identity of its expression.
    @inlinable
    @inline(__always)
    func position(of node: SQLNode) throws -> Int {
        if let index = storage.columns.position(ofIdentity: node.identity) { return index }
        return try index(of: node)
    }

    /// The position of a column by its text, cached for the next time.
    @usableFromInline
    func index(of node: SQLNode) throws -> Int {
        let columns = columns
        let index = try Self.index(of: node, in: columns)
        columns.remember(node, identity: node.identity, at: index)
        return index
    }

    private static func index(of node: SQLNode, in columns: RowColumns) throws -> Int {
        if case .identifier(let name) = node.kind, let index = columns.plainPosition(of: name) { return index }
        let name = node.template
        let keys = columns.keys
        if let index = keys.lastIndex(where: { isSameText($0, name) }) { return index }
        let similar = keys.indices.filter { hasTextSuffix(keys[$0], "." + name) }
        guard let index = similar.first else {
            throw QueryError.noSuchColumn(name: name, columns: keys.sorted())
        }
        guard similar.count == 1 else {
            throw QueryError.ambiguousColumn(name: name, similar: similar.map { keys[$0] })
        }
        return index
    }
}

extension Connection {
    /// The names of a query's columns, for lookup by expression. Each is the text that the query has for it. Columns of
    /// a `*` have their own names, qualified by their table if tables are joined.
    ///
    /// The names are kept with the statement. Its text does not show which expressions it was built from, so these are
    /// compared; and if `*` may stand for the columns of several tables, the same text can stand for other tables.
    package func columns(of query: any QueryType, _ statement: PreparedStatement) throws -> RowColumns {
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
            // A single `*` needs no keys: the statement's own names, quoted, are the same.
            if text == "*", query.clauses.columns.count == 1, query.clauses.others.joins.isEmpty { return nil }
            keys += try keysOfStar(text, in: query)
        }
        // A compound query or a changed schema may have other columns than expected. The statement's own names apply
        // then.
        return keys.count == names.count ? keys : nil
    }

    private func keysOfStar(_ text: String, in query: any QueryType) throws -> [String] {
        var tables: [(table: any QueryType, subquery: SQLNode?)] = [(query, nil)]
        for join in query.clauses.others.joins { tables.append((join.table, join.subquery)) }
        let namespace = String(text.dropLast(2))
        let isQualified = text != "*"
        let meant = isQualified ? tables.filter { isSameText(name(of: $0.table), namespace) } : tables
        guard !meant.isEmpty else { throw QueryError.noSuchTable(name: namespace) }
        let withTable = isQualified || tables.count > 1
        return try meant.prefix(isQualified ? 1 : tables.count).flatMap { source -> [String] in
            let names = try columnNames(of: source.table, source.subquery, in: query).map(quoted)
            return withTable ? names.map { name(of: source.table) + "." + $0 } : names
        }
    }

    /// - Parameter subquery: the SELECT that is joined under the table's name, if the table is one.
    private func columnNames(
        of table: any QueryType, _ subquery: SQLNode?, in query: any QueryType
    ) throws -> [String] {
        // The argument of the function names columns of other tables, and cannot be prepared without them.
        if table.clauses.others.source != nil { return JSONTable.columnNames }
        var builder = SQLBuilder()
        if let subquery {
            builder.append(subquery)
        } else {
            // The query's own WITH clause may define the table.
            var star = QueryClauses(from: table.clauses.from)
            star.others.with = query.clauses.others.with
            star.others.isRecursive = query.clauses.others.isRecursive
            builder.append(star)
        }
        let statement = try prepare(builder.sql)
        try statement.setBindings(builder.bindings)
        return statement.columnNames
    }

    private func name(of table: any QueryType) -> String { SQLExpression<Void>(root: table.tableName).template }
}

/// The selected columns that a statement's column names were made from.
private final class SelectedColumns {
    let nodes: [SQLNode]
    /// Whether the query has no joins, and no other clause that could name a table.
    let isSimple: Bool

    init(_ nodes: [SQLNode], isSimple: Bool) {
        self.nodes = nodes
        self.isSimple = isSimple
    }
}
