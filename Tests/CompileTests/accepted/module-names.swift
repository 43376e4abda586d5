// Names as projects write them, with Foundation beside: its own Expression is not meant, its own Result is not, either.
import Foundation
import SQLite

typealias Expression = SQLite.Expression

extension Connection {
    func count(of table: Table) throws -> Int { try scalar(table.count) }
    static func column() -> Expression<Int64> { Expression<Int64>("id") }
}

struct User {
    static let id = Expression<Int64>("id")
    static let created = Expression<Date?>("created")
    let url: URL
}

extension ExpressionType where UnderlyingType == String {
    var initial: Expression<String> { substring(1, length: 1) }
}

extension QueryType {
    func newest(_ column: Expression<Date?>) -> Self { order(column.desc).limit(1) }
}

func code(_ body: () throws -> Void) -> Int32 {
    do { try body() } catch let SQLite.Result.error(_, code, _) where code == SQLITE_CONSTRAINT { return code } catch {}
    return SQLITE_OK
}

func generic<V: Value>(_ column: SQLite.Expression<V>, is value: V) -> SQLite.Expression<Bool>
where V.Datatype: Equatable { column == value }
