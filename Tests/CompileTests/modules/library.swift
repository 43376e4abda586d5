// What libraries that use SQLite.swift declare: public, and seen by another module that imports both. `client.swift` is that one.
import Foundation
import SQLite

public struct Column { public init(_ name: String) {} }
public struct SQL: ExpressibleByStringLiteral { public init(stringLiteral: String) {} }
public struct Window { public init(width: Int) {} }
public enum Case { case upper, lower }
public struct Returning { public init() {} }
public struct Migrator { public init(_ db: Connection) {} }
public final class DatabasePool { public init() {} }
public final class DatabaseQueue { public init() {} }
public struct TypedQuery { public init() {} }
public struct TableOptions { public init() {} }
public struct ColumnType { public init() {} }
public struct DatabaseError: Error { public init() {} }
public struct ResultCode { public init() {} }
public enum FTS5 { case on }
public enum JSONColumn { case on }
public enum DatabaseKey { case on }
public enum StoredValue { case on }
public struct TypedStatement { public init() {} }
public struct WritingStatement { public init() {} }
public struct RunResult { public init() {} }

extension Connection {
    public func setUserVersion(_ version: Int32) throws { try run("PRAGMA user_version = \(version)") }
    public func readUserVersion() throws -> Int32 { Int32(truncatingIfNeeded: try scalar("PRAGMA user_version") as? Int64 ?? 0) }
    public func setForeignKeys(_ isOn: Bool) throws { foreignKeys = isOn }
    public func setApplicationID(_ id: Int32) throws { try run("PRAGMA application_id = \(id)") }
    public func integrityCheck(table: String? = nil) throws -> [String] { [] }
    public func drop(index name: String, ifExists: Bool = false) throws { try run("DROP INDEX \(name)") }
    public func hasKey() throws -> Bool { false }
    public var isInTransaction: Bool { false }
    public func finalizeAll() {}
    public func savepoint(_ body: () throws -> Void) throws { try savepoint("a", block: body) }
}

extension Row {
    public func string(_ column: SQLite.Expression<String>) -> String? { try? get(column) }
}

extension ExpressionType where UnderlyingType == String {
    public func over(_ window: Window) -> SQLite.Expression<String> { SQLite.Expression(literal: template) }
}

extension QueryType {
    public var tableReference: String { asSQL() }
}

public func when(_ condition: Bool, then: Int) -> Int { condition ? then : 0 }
public func exists(_ path: String) -> Bool { true }
public func length(_ text: String) -> Int { text.count }
