public import LiteVaultEngine

/// An argument of `with:`: a value whose type is known at compile time, or ``Bindings``.
public protocol StatementArgument: Sendable {
    /// Binds the values to the next parameters of a statement.
    ///
    /// - Parameters:
    ///   - statement: a prepared `sqlite3_stmt`, not being stepped.
    ///   - index: the last bound parameter, from 1; advanced by the number of values.
    /// - Returns: the engine's result code.
    /// - Throws: `DatabaseError` for a name that is not a parameter.
    func bind(to statement: OpaquePointer, after index: inout Int32) throws -> Int32
}

extension ColumnValue {
    /// Binds the value to the next parameter. Returns the engine's result code.
    @inlinable
    @inline(__always)
    public func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 {
        index &+= 1
        return bind(to: statement, at: index)
    }
}

/// Values for the parameters of a statement that are known only at run time: any number, in order or by name.
///
/// ```swift
/// try db.run(sql, with: Bindings(values))
/// try db.value("SELECT count(*) FROM note WHERE author = :author", with: Bindings([":author": name]), as: Int.self)
/// ```
public struct Bindings: StatementArgument {
    private enum Content {
        case positional([(any Binding)?])
        case named([(name: String, value: (any Binding)?)])
    }

    private let content: Content

    /// Creates values in the order of the parameters; nil is NULL.
    public init(_ values: [(any Binding)?]) { content = .positional(values) }

    /// Creates values by the names of the parameters, with their `:`, `@` or `$`; nil is NULL. Every parameter of the
    /// statement requires a value.
    ///
    /// SQLite compares names by their bytes, and a dictionary by characters: use ``init(named:)`` where two names may be canonically equal.
    public init(_ values: [String: (any Binding)?]) { content = .named(values.map { ($0.key, $0.value) }) }

    /// Creates values by the names of the parameters, as those of a dictionary, each name once.
    public init(named values: [(name: String, value: (any Binding)?)]) { content = .named(values) }

    /// Binds the values. Returns the first result code of the engine that is not `SQLITE_OK`.
    ///
    /// - Throws: `SQLITE_RANGE` for a name that is not a parameter, `SQLITE_MISUSE` for a name with two values.
    public func bind(to statement: OpaquePointer, after index: inout Int32) throws -> Int32 {
        var code = SQLITE_OK
        switch content {
        case .positional(let values):
            for value in values {
                index &+= 1
                let bound = value?.bind(to: statement, at: index) ?? sqlite3_bind_null(statement, index)
                if code == SQLITE_OK { code = bound }
            }
        case .named(let values):
            var parameters = Set<Int32>()
            for (name, value) in values {
                // A name ends at a NUL in C, and the part before it could be a parameter.
                let parameter = name.utf8.contains(0) ? 0 : sqlite3_bind_parameter_index(statement, name)
                guard parameter > 0 else {
                    let sql = sqlite3_sql(statement).map { String(cString: $0) } ?? ""
                    throw DatabaseError(unknownParameter: name, sql: sql)
                }
                // The number of values would be right, and another parameter NULL.
                guard parameters.insert(parameter).inserted else {
                    throw DatabaseError(misuse: "there are two values for the parameter \(name)")
                }
                index &+= 1
                let bound = value?.bind(to: statement, at: parameter) ?? sqlite3_bind_null(statement, parameter)
                if code == SQLITE_OK { code = bound }
            }
        }
        return code
    }
}

/// Any number of values of one type, for the members of `IN (…)`: as an argument of `with:`, beside others. An ``SQL`` literal takes the
/// values themselves: `IN \(ids)`.
///
/// The SQL text needs a parameter for each, which ``placeholders`` writes:
///
/// ```swift
/// let ids = ArgumentList([1, 2, 3])
/// try db.all(
///     "SELECT title FROM note WHERE id IN (\(sql: ids.placeholders)) AND author = ?", with: ids, name, as: String.self)
/// ```
public struct ArgumentList<Element: ColumnValue>: StatementArgument {
    /// The values, in the order of their parameters.
    public let values: [Element]

    /// Creates a list. An empty one is in no set: `IN ()` is false.
    @inlinable
    public init(_ values: [Element]) { self.values = values }

    /// `?` for each value, separated by commas.
    public var placeholders: String { repeatElement("?", count: values.count).joined(separator: ",") }

    /// Binds the values to the next parameters. Returns the first result code of the engine that is not `SQLITE_OK`.
    @inlinable
    public func bind(to statement: OpaquePointer, after index: inout Int32) -> Int32 {
        var code = SQLITE_OK
        for value in values {
            index &+= 1
            let bound = value.bind(to: statement, at: index)
            if code == SQLITE_OK { code = bound }
        }
        return code
    }
}

extension DatabaseError {
    init(wrongCount count: Int, expected: Int, sql: String) {
        self = .error(
            message: "\(expected) values expected, \(count) passed", code: SQLITE_RANGE,
            statement: Context(sql: SQLRedaction.redacted(sql), extendedCode: SQLITE_RANGE))
    }

    /// The result code of binding a value that its type cannot store. The bits above the primary code have the parameter's number; the
    /// engine's codes for binding have none there.
    package static func unstorable(at index: Int32) -> Int32 { SQLITE_MISMATCH | index << 8 }

    /// A value whose type could not store it.
    ///
    /// - Parameter code: that of ``unstorable(at:)``.
    init(unstorableValue code: Int32, in statement: OpaquePointer, sql: String) {
        let index = code >> 8
        let name = sqlite3_bind_parameter_name(statement, index).map { " (\(String(cString: $0)))" } ?? ""
        let value = index > 0 ? "the value of parameter \(index)\(name)" : "a value"
        self = .error(
            message: "\(value) cannot be stored: a date outside of the years 0000 to 9999, or a decimal of "
                + "more than 15 digits in a column whose type is not TEXT",
            code: SQLITE_MISMATCH,
            statement: Context(sql: SQLRedaction.redacted(sql), extendedCode: SQLITE_MISMATCH))
    }

    init(unknownParameter name: String, sql: String) {
        self = .error(
            message: "there is no parameter '\(name)'", code: SQLITE_RANGE,
            statement: Context(sql: SQLRedaction.redacted(sql), extendedCode: SQLITE_RANGE))
    }
}
