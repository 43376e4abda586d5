public import LiteVaultCore

/// A place in a JSON text, or in a blob of JSONB, for typed queries (https://sqlite.org/json1.html).
///
/// ```swift
/// let city = meta.json["address"]["city"].value(as: String.self)      // SQLExpression<String?>
/// try db.all(users.select(name).filter(city == "Bonn"))
/// try db.run(users.update(meta <- meta.json["address"]["city"].setting("Ulm")))
/// ```
///
/// Paths are written into the SQL as `json_extract("meta", '$."address"."city"')` by every engine, so that an index on such an
/// expression is found. SQLite needs to be built with its JSON functions, as it is from 3.38 on; otherwise, and for JSONB
/// before 3.45, a statement throws `VaultError` `unsupported`. Malformed JSON is an error of the engine.
public struct JSONExpression<Datatype: SQLType>: Expressible {
    private let source: SQLNode
    private let path: String

    init(_ source: SQLNode, path: String = "$") { (self.source, self.path) = (source, path) }

    /// The value as JSON text or an SQL value, as ``value(as:)`` reads it.
    public var expression: SQLExpression<Void> { SQLExpression(root: call("json_extract")) }

    /// The value of a key of an object.
    ///
    /// - Parameter key: the key. SQLite's paths have no way to write one that contains a quotation mark: it is not found.
    public subscript(key: String) -> JSONExpression { JSONExpression(source, path: "\(path).\"\(key)\"") }

    /// An element of an array, from 0. Negative indices count from the end, from SQLite 3.31 on.
    public subscript(index: Int) -> JSONExpression {
        JSONExpression(source, path: path + (index < 0 ? "[#\(index)]" : "[\(index)]"))
    }

    /// The value as a Swift type: `json_extract(x, path)`. NULL when there is none at the path, and for null. Objects and arrays
    /// are JSON text, true and false are 1 and 0.
    public func value<V: Value>(as type: V.Type) -> SQLExpression<V?> { SQLExpression(root: call("json_extract")) }

    /// What is at the path: "object", "array", "text", "integer", "real", "true", "false" or "null"; NULL when nothing is
    /// (`json_type`).
    public var type: SQLExpression<String?> { SQLExpression(root: call("json_type")) }

    /// The number of elements of the array at the path, 0 for another value; NULL when nothing is there (`json_array_length`).
    public var count: SQLExpression<Int?> { SQLExpression(root: call("json_array_length")) }

    /// Whether there is a value at the path; null is one.
    public var exists: SQLExpression<Bool> {
        SQLExpression(root: .wrapped("", .words(call("json_type"), .text("IS NOT NULL"))))
    }

    /// The elements of the array or object at the path as the rows of a table, to join or to look for one: `json_each(x, path)`.
    ///
    /// - Parameter name: the alias of the table. Different tables in one statement need different names.
    public func each(_ name: String = "element") -> JSONTable { JSONTable(call("json_each"), alias: name) }

    /// The elements at the path and everything inside them as the rows of a table: `json_tree(x, path)`.
    ///
    /// - Parameter name: the alias of the table.
    public func tree(_ name: String = "element") -> JSONTable { JSONTable(call("json_tree"), alias: name) }

    private func call(_ function: String) -> SQLNode {
        .call(function, path == "$" && function != "json_extract" ? [source] : [source, pathNode])
    }

    /// A literal: with a parameter, no index would be found.
    private var pathNode: SQLNode { .text(LiteralSQL.literal(path)) }
}

extension JSONExpression {
    /// The whole JSON with another value at the path, for an update: `json_set(x, path, value)`, or `jsonb_set` for a column of
    /// blobs. A missing key is added, if the object around it exists.
    ///
    /// - Parameter value: a value; nil for null. `Bool` becomes true or false.
    public func setting<V: Value>(_ value: V?) -> SQLExpression<Datatype> {
        let new: SQLNode = (value as? Bool).map { .text("json('\($0)')") } ?? .value(value?.datatypeValue)
        return SQLExpression(root: .call(Self.prefix + "_set", [source, pathNode, new]))
    }

    /// The whole JSON with other JSON at the path: `json_set(x, path, json(text))`.
    ///
    /// - Parameter text: JSON, such as an array.
    public func setting(json text: String) -> SQLExpression<Datatype> {
        SQLExpression(root: .call(Self.prefix + "_set", [source, pathNode, .call("json", [.value(text)])]))
    }

    /// The whole JSON without the value at the path: `json_remove(x, path)`.
    public func removing() -> SQLExpression<Datatype> {
        SQLExpression(root: .call(Self.prefix + "_remove", [source, pathNode]))
    }

    private static var prefix: String { Datatype.Base.Datatype.self == Blob.self ? "jsonb" : "json" }
}

extension ExpressionType where UnderlyingType: SQLType {
    /// The content of a column of JSON text, or of JSONB: see ``JSONExpression``.
    public var json: JSONExpression<UnderlyingType> { JSONExpression(node) }
}

extension SQLExpression where Datatype: SQLType, Datatype.Base == String {
    /// The JSON text in SQLite's binary format, smaller and faster to read: `jsonb(x)`. SQLite 3.45 and later.
    public var jsonb: SQLExpression<Blob?> { SQLExpression<Blob?>(root: .call("jsonb", [root])) }
}

extension SQLExpression where Datatype: SQLType, Datatype.Base.Datatype == Blob {
    /// The text of JSON in SQLite's binary format: `json(x)`. SQLite 3.45 and later.
    public var jsonText: SQLExpression<String?> { SQLExpression<String?>(root: .call("json", [root])) }
}
