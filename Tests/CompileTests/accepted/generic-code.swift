// What applications write around SQLite.swift: functions and protocols over any value, expression or query.
import Foundation
import SQLite

typealias Expression = SQLite.Expression

let table = Table("t")

func assigned<V: Value>(_ column: Expression<V>, _ value: V) -> Setter { column <- value }
func assigned<V: Value>(_ column: Expression<V?>, _ value: V?) -> Setter { column <- value }
func assigned<V: Value>(_ column: Expression<V?>, _ value: Expression<V>) -> Setter { column <- value }
func increased<V: Value>(_ column: Expression<V>, _ by: V) -> Setter where V.Datatype: Number { column += by }
func equal<V: Value>(_ column: Expression<V>, _ value: V) -> Table where V.Datatype: Equatable {
    table.filter(column == value)
}
func equal<V: Value>(_ column: Expression<V?>, _ value: V?) -> Table where V.Datatype: Equatable {
    table.filter(column == value)
}
func different<V: Value>(_ column: Expression<V>, _ other: Expression<V?>) -> Table where V.Datatype: Equatable {
    table.filter(column != other)
}
func between<V: Value>(_ column: Expression<V>, _ low: V, _ high: V) -> Table where V.Datatype: Comparable {
    table.filter(column >= low && high > column)
}
func within<V: Value>(_ column: Expression<V>, _ range: ClosedRange<V>) -> Table
where V: Comparable, V.Datatype: Value & Comparable { table.filter(range ~= column) }
func amongst<V: Value>(_ column: Expression<V>, _ values: [V]) -> Table { table.filter(values.contains(column)) }
func computed<V: Value>(_ column: Expression<V>, _ value: V) -> Expression<V> where V.Datatype: Number {
    column + value * column - value
}
func computed<V: Value>(_ column: Expression<V?>, _ value: V) -> Expression<V?> where V.Datatype: Number { column + value }
func masked<V: Value>(_ column: Expression<V>) -> Expression<V> where V.Datatype == Int64 { ~column & column }
func otherwise<V: Value>(_ column: Expression<V?>, _ value: V) -> Expression<V> { column ?? value }
func largest<V: Value>(_ column: Expression<V>) -> Expression<V?> where V.Datatype: Comparable { column.max }
func added<V: Value>(_ column: Expression<V>) -> Expression<V?> where V.Datatype: Number { column.sum }
func counted<T: ExpressionType>(_ column: T) -> Expression<Int> where T.UnderlyingType: Value { column.count }
func text<T: ExpressionType>(_ expression: T) -> String { expression.template + expression.asc.expression.template }

func read<V: Value>(_ row: Row, _ column: Expression<V>) throws -> (V, V) { (row[column], try row.get(column)) }
func read<V: Value>(_ row: Row, _ column: Expression<V?>) throws -> (V?, V?) { (row[column], try row.get(column)) }
func scalar<V: Value>(_ db: Connection, _ column: Expression<V>) throws -> V { try db.scalar(table.select(column)) }
func all<V: Value>(_ db: Connection, _ column: Expression<V>) throws -> [V] {
    try db.prepare(table.select(column)).map { $0[column] }
}
func created<V: Value>(_ column: Expression<V>) -> String { table.create { $0.column(column, unique: true) } }
func newest<Q: QueryType>(_ query: Q) -> Q { query.filter(rowid > 1).order(rowid.desc).limit(1) }
func newest(_ query: any QueryType) -> any QueryType { query.filter(rowid > 1).limit(1) }

protocol Model: Codable {
    static var table: Table { get }
}

extension Model {
    func save(_ db: Connection) throws { try db.run(Self.table.insert(self)) }
    static func all(_ db: Connection) throws -> [Self] { try db.prepare(table).map { try $0.decode() } }
    static func find<V: Value>(_ db: Connection, _ column: Expression<V>, _ value: V) throws -> Self?
    where V.Datatype: Equatable { try db.pluck(table.filter(column == value))?.decode() }
}

func put(together terms: [Expression<Bool>], _ optional: [Expression<Bool?>]) -> [any Expressible] {
    [
        terms.reduce(Expression<Bool>(value: true)) { $0 && $1 }, terms.dropFirst().reduce(terms[0], ||),
        optional.reduce(Expression<Bool?>(value: true)) { $0 || $1 },
    ]
}

func step(by step: Table, _ name: String?) -> Table {
    let column = Expression<String?>("name")
    var query = step
    if name != nil { query = query.filter(column == name) }
    query = query.order(column.desc)
    return query.limit(10, offset: 20)
}
