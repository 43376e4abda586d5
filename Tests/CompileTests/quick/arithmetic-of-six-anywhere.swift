// at most 3000 scopes: six terms, where no type is asked for
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

func selected() -> Table { t.select(a * 2 + a - 3 * a + 4, d * 2 - 1) }
func compared() -> Table { t.filter(a * 2 + a - 3 * a + 4 > 10) }
func inferred() -> String {
    let sum = d * 2 + d - 3.5 * d + 4 / d
    return sum.asSQL()
}
