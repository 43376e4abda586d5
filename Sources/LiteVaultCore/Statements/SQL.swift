// All layers above quote names and compare them.
@_exported public import LiteVaultQuoting

/// An SQL statement, or a piece of one, with the values of its parameters.
///
/// A literal is SQL. What is interpolated is bound as a parameter, never parsed as SQL:
///
/// ```swift
/// try db.run("UPDATE note SET title = \(title) WHERE id = \(id)")
/// let titles = try db.all("SELECT title FROM note WHERE id IN \(ids)", as: String.self)
/// ```
///
/// | interpolation | becomes |
/// |---|---|
/// | `\(value)`, `\(optional)` | a parameter; nil is NULL |
/// | `\(values)` | a list of parameters in parentheses, for `IN` |
/// | `\(table: name)`, `\(column: name)`, `\(identifier: name)` | the name, quoted |
/// | `\(other)` | the text and values of another `SQL`, of an expression or of a query |
/// | `\(sql: text)` | the text itself: never pass untrusted input |
///
/// A literal with values puts its text together each time, in about 200 ns for each value: a loop that repeats a statement prepares it once
/// (``Connection/prepare(_:)``).
///
/// Text that is not a literal is passed as ``init(sql:)``. Do not write quotes around an interpolation: `'\(name)'` is the text `?`.
///
/// In a module that imports `SQLite` as well, a literal that is passed to `run` is a `String`, as SQLite.swift has it, and interpolations are
/// SQL text: write `db.run("…" as SQL)` there.
///
/// Statements that take parameters bind the values. Statements of the schema take none and contain them as literals.
public struct SQL: ExpressibleByStringInterpolation, Sendable {
    /// The SQL text, with a `?` for each value.
    public let template: String
    /// The values, in the order of the text; nil is NULL.
    public let bindings: [(any Binding)?]

    /// Creates SQL from text with a `?` for each value, and the values.
    @inlinable
    public init(_ template: String, _ bindings: [(any Binding)?]) {
        self.template = template
        self.bindings = bindings
    }

    /// Creates SQL from text, which is used verbatim: never build it from untrusted input.
    @inlinable
    public init(sql: String) { self.init(sql, []) }

    /// Creates SQL from a literal without interpolations.
    @inlinable
    public init(stringLiteral value: String) { self.init(value, []) }

    /// Creates SQL from a literal with interpolations.
    @inlinable
    public init(stringInterpolation: StringInterpolation) {
        self.init(stringInterpolation.template, stringInterpolation.bindings)
    }

    /// Concatenates two pieces, without a space between them.
    public static func + (lhs: SQL, rhs: SQL) -> SQL {
        SQL(lhs.template + rhs.template, lhs.bindings + rhs.bindings)
    }
}

extension SQL: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The SQL text with a `?` for each value. Values are left out, and keys written into the text are replaced: what is logged shows neither.
    public var description: String { SQLRedaction.redacted(template) }

    /// The same as ``description``.
    public var debugDescription: String { description }

    /// The text without the values, for `dump` and the like.
    public var customMirror: Mirror { Mirror(self, children: ["template": description]) }
}

extension SQL {
    /// Collects the text and the values of an SQL literal.
    public struct StringInterpolation: StringInterpolationProtocol {
        // Inlined into the caller, which knows the type of each value.
        @usableFromInline package var template = ""
        @usableFromInline package var bindings: [(any Binding)?] = []

        /// Reserves memory for the text and the values.
        @inlinable
        public init(literalCapacity: Int, interpolationCount: Int) {
            template.reserveCapacity(literalCapacity + interpolationCount)
            bindings.reserveCapacity(interpolationCount)
        }

        /// Appends SQL text.
        @inlinable
        public mutating func appendLiteral(_ literal: String) { template += literal }

        /// Appends a value as a parameter.
        @inlinable
        public mutating func appendInterpolation(_ value: some Binding) { append(value) }

        /// Appends a value as a parameter; NULL for nil.
        @inlinable
        public mutating func appendInterpolation(_ value: (some Binding)?) { append(value) }

        /// Appends a list of values in parentheses, for `IN`. An empty one is in no set: `IN ()` is false.
        public mutating func appendInterpolation(_ values: some Sequence<some Binding>) {
            template += "("
            var separator = ""
            for value in values {
                template += separator
                append(value)
                separator = ", "
            }
            template += ")"
        }

        /// Appends the text and the values of another piece of SQL.
        public mutating func appendInterpolation(_ other: SQL) { append(other.template, other.bindings) }

        /// Appends the quoted name of a table or view.
        ///
        /// - Parameters:
        ///   - table: the name.
        ///   - database: its database: `main`, `temp` or an attached one. By default SQLite searches all of them.
        public mutating func appendInterpolation(table: String, in database: String? = nil) {
            if let database { template += quoted(database) + "." }
            template += quoted(table)
        }

        /// Appends the quoted name of a column.
        public mutating func appendInterpolation(column: String) { template += quoted(column) }

        /// Appends the quoted name of an index, a trigger or another object.
        public mutating func appendInterpolation(identifier: String) { template += quoted(identifier) }

        /// Appends SQL text verbatim. Never pass untrusted input.
        public mutating func appendInterpolation(sql: String) { template += sql }

        /// Appends SQL text with a `?` for each value, and the values.
        package mutating func append(_ template: String, _ bindings: [(any Binding)?]) {
            self.template += template
            self.bindings += bindings
        }

        @inlinable
        @inline(__always)
        mutating func append(_ value: (any Binding)?) {
            template += "?"
            bindings.append(value)
        }
    }
}
