internal import LiteVaultCore
public import LiteVaultQuery

extension ColumnSpecification {
    /// Lets only rows in for which a condition holds, or is NULL: `CHECK (LENGTH("name") > 0)`.
    ///
    /// - Parameter condition: makes the condition of the column.
    @discardableResult
    public func check(_ condition: (Column) -> any ExpressionType) -> Self {
        checks.append(condition(Column(name)).node)
        return self
    }

    /// Lets only rows in for which a condition holds, or is NULL.
    ///
    /// - Parameter sql: the condition as SQL text. It is used as it is: never build it from input.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(.text(sql))
        return self
    }

    /// What rows get that are inserted without a value: `DEFAULT 'Anonymous'`. nil is NULL.
    @discardableResult
    public func defaults(to value: (any Value)?) -> Self {
        let node = value?.node ?? .value(nil)
        // The one literal that is an expression: a text with a NUL in it.
        defaultValue = node.sql.hasPrefix("CAST") ? node.inParentheses : node
        isDefaultConstant = true
        return self
    }

    /// What rows get that are inserted without a value.
    ///
    /// - Parameter sql: SQL text such as `CURRENT_TIMESTAMP` or `abs(-1)`. It is used as it is: never build it from
    ///   input.
    @discardableResult
    public func defaults(sql: String) -> Self {
        let value = LiteralValue(sql)
        let isWrapped = sql.first == "("
        defaultValue = .text(isWrapped ? sql : value.defaultClause)
        isDefaultConstant = !isWrapped && value.isConstant
        return self
    }

    /// Makes it a column whose value is computed: `GENERATED ALWAYS AS ("score" + "bonus") VIRTUAL`. SQLite 3.31 and
    /// later; an earlier one throws `EngineUnsupported` when the table is made.
    @discardableResult
    public func generatedAs(_ expression: any ExpressionType, _ kind: GeneratedColumnKind = .virtual) -> Self {
        generation = (expression.node, kind)
        return self
    }

    /// Makes it a column whose value is computed from an SQL text. It is used as it is: never build it from input.
    @discardableResult
    public func generatedAs(sql: String, _ kind: GeneratedColumnKind = .virtual) -> Self {
        generation = (.text(sql), kind)
        return self
    }

    /// Makes it a foreign key: `REFERENCES "team"("id")`.
    ///
    /// - Parameters:
    ///   - table: the table it refers to; it may be its own.
    ///   - column: the column there; by default the primary key, which is looked up when the table is made.
    ///   - onDelete: what happens to the row when the row there is deleted.
    ///   - onUpdate: what happens to the row when the key there changes.
    ///   - deferred: whether the reference may be broken until the transaction ends.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete: ForeignKeyAction? = nil, onUpdate: ForeignKeyAction? = nil,
        deferred: Bool = false
    ) -> Self {
        references.append(
            Reference(
                table: table, column: column,
                actions: ForeignKeyActions(onDelete: onDelete, onUpdate: onUpdate, isDeferred: deferred)))
        return self
    }
}

extension LiteralValue {
    /// Whether ALTER TABLE ADD COLUMN takes it.
    var isConstant: Bool {
        switch self {
        case .CURRENT_TIME, .CURRENT_DATE, .CURRENT_TIMESTAMP: false
        case .numericLiteral: !defaultClause.hasPrefix("(")
        default: true
        }
    }
}
