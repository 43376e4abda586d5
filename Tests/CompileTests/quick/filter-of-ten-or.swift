// at most 5000 scopes: ten terms, and and or, integers for reals
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
    t.filter(
        a == 1 || i == 2 && d == 3 || m == 4 && b == 5 || a > 6 && j < 7 || d >= 8 && b <= 9 || s == "10")
}
