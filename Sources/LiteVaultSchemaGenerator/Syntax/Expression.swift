/// An expression of SQL (https://sqlite.org/lang_expr.html).
struct Expression: Sendable {
    indirect enum Form: Sendable {
        case null, integer(String), real, text(String), blob, boolean
        /// `CURRENT_DATE`, `CURRENT_TIME` or `CURRENT_TIMESTAMP`.
        case now
        case parameter(name: String)
        case column(ColumnReference)
        /// `-`, `+` or `~`.
        case sign(String, Expression)
        case not(Expression)
        /// `AND`, `OR`, comparisons, arithmetic, `||`, `->`, `->>`.
        case binary(String, Expression, Expression)
        /// `IS`, `IS NOT` and their other spellings. `isNegated` is what `x IS NOT NULL` has.
        case identity(Expression, Expression, isNegated: Bool)
        case between(Expression, Expression, Expression)
        /// `LIKE`, `GLOB`, `REGEXP` and `MATCH`, with the expression after `ESCAPE`.
        case pattern(String, Expression, Expression, escape: Expression?)
        case membership(Expression, Members)
        case call(FunctionCall)
        case cast(Expression, type: String)
        case conditional(
            base: Expression?, branches: [(condition: Expression, value: Expression)], otherwise: Expression?)
        case exists(Select)
        case subquery(Select)
        /// Several values in parentheses.
        case row([Expression])
        case collated(Expression)
        case raise
    }

    /// What `IN` looks in.
    indirect enum Members: Sendable {
        case list([Expression])
        case select(Select)
        case table(TableReference)
    }

    let form: Form
    /// The bytes of the SQL text that it consists of.
    let range: Range<Int>
}

/// The name of a column, as far as it is qualified.
struct ColumnReference: Sendable {
    let table: String?
    let name: String
    /// In double quotes: a text, if there is no such column.
    let mayBeText: Bool
}

/// A call of a function, of an aggregate or of a window function.
struct FunctionCall: Sendable {
    /// In lower case.
    let name: String
    let arguments: [Expression]
    /// `ORDER BY` among the arguments of an aggregate.
    let order: [Expression]
    let filter: Expression?
    let window: Window?
}

/// What `OVER` names or defines.
struct Window: Sendable {
    /// A window of the `WINDOW` clause that is used or extended.
    let base: String?
    let expressions: [Expression]
    /// nil for the default frame.
    let frame: Frame?

    struct Frame: Sendable {
        /// Whether the current row is in it, always: then it is never empty.
        let includesCurrentRow: Bool
        /// The offsets of `n PRECEDING` and `n FOLLOWING`.
        let offsets: [Expression]
    }
}

extension Expression {
    /// The expressions that it consists of, without those in subqueries.
    var operands: [Expression] {
        switch form {
        case .null, .integer, .real, .text, .blob, .boolean, .now, .parameter, .column, .exists, .subquery, .raise: []
        case .sign(_, let operand), .not(let operand), .cast(let operand, _), .collated(let operand): [operand]
        case .binary(_, let left, let right), .identity(let left, let right, _): [left, right]
        case .between(let operand, let low, let high): [operand, low, high]
        case .pattern(_, let left, let right, let escape): [left, right] + (escape.map { [$0] } ?? [])
        case .membership(let operand, .list(let members)): [operand] + members
        case .membership(let operand, _): [operand]
        case .call(let call): call.arguments + call.order + (call.filter.map { [$0] } ?? [])
        case .conditional(let base, let branches, let otherwise):
            [base, otherwise].compactMap(\.self) + branches.flatMap { [$0.condition, $0.value] }
        case .row(let elements): elements
        }
    }
}
