// at most 100 scopes: six terms with literals, for a column of integers, of reals, with NULL
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

func integers() -> SQLite.Expression<Int> { a * 2 + a - 3 * a + 4 }
func reals() -> SQLite.Expression<Double> { d * 2 + d - 3.5 * d + 4 / d }
func optionals() -> SQLite.Expression<Int?> { a * 2 + b - 3 * a + 4 }
func columns() -> SQLite.Expression<Int> { a + a * a - a / a + a }
