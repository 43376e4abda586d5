/// The elements of a JSON array or object as the rows of a table (https://sqlite.org/json1.html#jeach).
///
/// ```swift
/// let tag = tags.json.each("tag")
/// try db.all(notes.select(title, tag.value(as: String.self)).join(tag, on: tag.type == "text"))
/// try db.all(notes.select(title).filter(exists(tag.filter(tag.value(as: String.self) == "swift"))))
/// ```
public struct JSONTable: QueryType {
    /// The clauses.
    public var clauses: QueryClauses

    /// The columns that `*` stands for.
    static let columnNames = ["key", "value", "type", "atom", "id", "parent", "fullkey", "path"]

    init(_ function: SQLNode, alias: String) {
        clauses = QueryClauses(from: QueryClauses.From(name: alias, alias: alias, database: nil))
        clauses.others.source = function
    }

    /// Creates a query of a table with the same columns.
    ///
    /// - Parameters:
    ///   - name: the table.
    ///   - database: `main`, `temp` or an attached database; nil to let SQLite search all of them.
    public init(_ name: String, database: String?) {
        clauses = QueryClauses(from: QueryClauses.From(name: name, alias: nil, database: database))
    }

    /// The element as a Swift type: column `value`. NULL for null; objects and arrays are JSON text.
    public func value<V: Value>(as type: V.Type) -> SQLExpression<V?> { column("value") }

    /// The content of the element, if it is an object or array: paths start there.
    public var json: JSONExpression<String?> { JSONExpression((column("value") as SQLExpression<String?>).root) }

    /// The key in an object: column `key`. In an array, use ``index``.
    public var key: SQLExpression<String?> { column("key") }

    /// The position in an array, from 0: column `key`.
    public var index: SQLExpression<Int?> { column("key") }

    /// What the element is: "object", "array", "text", "integer", "real", "true", "false" or "null".
    public var type: SQLExpression<String> { column("type") }

    /// The path of the element from the beginning of the whole JSON: column `fullkey`.
    public var fullPath: SQLExpression<String> { column("fullkey") }

    /// The path of the array or object that has the element: column `path`.
    public var path: SQLExpression<String> { column("path") }

    private func column<V>(_ name: String) -> SQLExpression<V> {
        SQLExpression(root: .qualified(tableName, .identifier(name)))
    }
}
