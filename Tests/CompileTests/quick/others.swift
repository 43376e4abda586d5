// at most 3000 scopes: bits, ranges, ifnull, dates
import Foundation
import SQLite

let t = Table("t")
let a = SQLite.Expression<Int>("a")
let b = SQLite.Expression<Int?>("b")
let s = SQLite.Expression<String>("s")
let n = SQLite.Expression<String?>("n")
let d = SQLite.Expression<Double>("d")
let m = SQLite.Expression<Double?>("m")
let f = SQLite.Expression<Bool>("f")
let i = SQLite.Expression<Int64>("i")
let j = SQLite.Expression<Int64?>("j")

func bits() -> SQLite.Expression<Int> { a & 1 | a << 2 ^ a >> 1 & ~a }
func ranges() -> Table { t.filter((1...3) ~= a && (1..<3) ~= b && ...3 ~= d && [1, 2].contains(a)) }
func coalesced() -> Table { t.filter((b ?? 0) + a > 3 && (n ?? "x") == s && (m ?? 1) * 2 < d) }
func negative() -> Table { t.filter(a == -1 && d > -2.5 && -a < 3 && i == -7 && b != -4) }
func dates(_ x: SQLite.Expression<Date>, _ y: SQLite.Expression<Date?>) -> Table {
    t.filter(x > Date() && y <= Date(timeIntervalSinceNow: 60 * 60 * 24 * 7))
}
