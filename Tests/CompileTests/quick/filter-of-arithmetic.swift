// at most 20000 scopes: parentheses, arithmetic and comparisons
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

func filtered() -> Table {
    t.filter(((a + 1) * 2 > 3 && (a - 1) * 2 < 30) || ((b + 1) * 2 > 3 && (b - 1) / 2 < 30))
}
