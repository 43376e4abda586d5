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
/// expression is found. A key is written as in JSON, so that it may have any characters: `$."a\\b"` for a backslash. For a key with
/// a quotation mark, an engine before 3.45 has no path, and the statement throws `VaultError` `unsupported`. SQLite needs to be built with its JSON functions, as it is from 3.38 on; otherwise, and for JSONB
/// before 3.45, a statement throws `VaultError` `unsupported`. Malformed JSON is an error of the engine.
public struct JSONExpression<Datatype: SQLType>: Expressible {
    private let source: SQLNode
    private let steps: [Step]

    private enum Step {
        case key(String)
        case index(Int)
    }

    init(_ source: SQLNode) { (self.source, steps) = (source, []) }

    private init(_ source: SQLNode, _ steps: [Step]) { (self.source, self.steps) = (source, steps) }

    /// The value as JSON text or an SQL value, as ``value(as:)`` reads it.
    public var expression: SQLExpression<Void> { SQLExpression(root: call("json_extract")) }

    /// The value of a key of an object.
    public subscript(key: String) -> JSONExpression { JSONExpression(source, steps + [.key(key)]) }

    /// An element of an array, from 0. Negative indices count from the end, from SQLite 3.31 on.
    public subscript(index: Int) -> JSONExpression { JSONExpression(source, steps + [.index(index)]) }

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
        guard isWritable else { return unwritable }
        return .call(function, steps.isEmpty && function != "json_extract" ? [source] : [source, path(steps[...])])
    }
}

// MARK: Paths

extension JSONExpression {
    /// Engines before 3.45 end a key at a quotation mark, escaped or not, compare other keys with the spelling in the JSON, and take
    /// that of a new key as it is.
    private static var comparesSpelling: Bool { !EngineInfo.linked.isAtLeast(3, 45) }

    /// Whether the engine has a path for these steps.
    private var isWritable: Bool {
        !Self.comparesSpelling
            || steps.allSatisfy { step in
                if case .key(let key) = step {
                    !key.utf8.contains { $0 == UInt8(ascii: "\"") || $0 == 0 }
                } else {
                    true
                }
            }
    }

    /// A call of a function that does not exist, for the error that the statement has to throw.
    private var unwritable: SQLNode { .call(EngineRequirement.unwritableJSONKey, [source]) }

    /// A path. A literal: with a parameter, no index would be found.
    ///
    /// - Parameter new: steps at the end that are new keys for an engine that takes the spelling of those as it is.
    private func path(_ steps: ArraySlice<Step>, new: ArraySlice<Step> = []) -> SQLNode {
        let text = steps.map { step in
            switch step {
            case .key(let key): Quoting.jsonPathStep(key)
            case .index(let index): Self.text(index)
            }
        }
        let rest = new.map { step in
            switch step {
            case .key(let key): ".\"\(key)\""
            case .index(let index): Self.text(index)
            }
        }
        return .text(Quoting.sqlText("$" + text.joined() + rest.joined()))
    }

    private static func text(_ index: Int) -> String { index < 0 ? "[#\(index)]" : "[\(index)]" }

    /// The path for `json_set`, which changes what exists, and adds what does not.
    private var pathToSet: SQLNode {
        // Keys that are not spelled the same in JSON.
        let special = steps.indices.filter { index in
            if case .key(let key) = steps[index] {
                return !isSameText(Quoting.jsonPathStep(key), ".\"\(key)\"")
            }
            return false
        }
        guard Self.comparesSpelling, let first = special.first else { return path(steps[...]) }
        func exists(_ steps: ArraySlice<Step>) -> SQLNode {
            .words(.text("WHEN"), .call("json_type", [source, path(steps)]), .text("IS NOT NULL THEN"))
        }
        var words: [SQLNode] = [.text("CASE")]
        for index in special.reversed() {
            words += [exists(steps[...index]), path(steps[...index], new: steps[(index + 1)...])]
        }
        words += [.text("ELSE"), path(steps[..<first], new: steps[first...]), .text("END")]
        return .joined(words, separator: " ")
    }
}

extension JSONExpression {
    /// The whole JSON with another value at the path, for an update: `json_set(x, path, value)`, or `jsonb_set` for a column of
    /// blobs. A missing key is added, if the object around it exists.
    ///
    /// - Parameter value: a value; nil for null. `Bool` becomes true or false.
    public func setting<V: Value>(_ value: V?) -> SQLExpression<Datatype> {
        let new: SQLNode = (value as? Bool).map { .text("json('\($0)')") } ?? .value(value?.datatypeValue)
        return SQLExpression(root: set(new))
    }

    /// The whole JSON with other JSON at the path: `json_set(x, path, json(text))`.
    ///
    /// - Parameter text: JSON, such as an array.
    public func setting(json text: String) -> SQLExpression<Datatype> {
        SQLExpression(root: set(.call("json", [.value(text)])))
    }

    /// The whole JSON without the value at the path: `json_remove(x, path)`.
    public func removing() -> SQLExpression<Datatype> {
        SQLExpression(root: isWritable ? .call(Self.prefix + "_remove", [source, path(steps[...])]) : unwritable)
    }

    private func set(_ new: SQLNode) -> SQLNode {
        isWritable ? .call(Self.prefix + "_set", [source, pathToSet, new]) : unwritable
    }

    private static var prefix: String { Datatype.SQLBase.Datatype.self == Blob.self ? "jsonb" : "json" }
}

extension ExpressionType where UnderlyingType: SQLType {
    /// The content of a column of JSON text, or of JSONB: see ``JSONExpression``.
    public var json: JSONExpression<UnderlyingType> { JSONExpression(node) }
}

extension SQLExpression where Datatype: SQLType, Datatype.SQLBase == String {
    /// The JSON text in SQLite's binary format, smaller and faster to read: `jsonb(x)`. SQLite 3.45 and later.
    public var jsonb: SQLExpression<Blob?> { SQLExpression<Blob?>(root: .call("jsonb", [root])) }
}

extension SQLExpression where Datatype: SQLType, Datatype.SQLBase.Datatype == Blob {
    /// The text of JSON in SQLite's binary format: `json(x)`. SQLite 3.45 and later.
    public var jsonText: SQLExpression<String?> { SQLExpression<String?>(root: .call("json", [root])) }
}
