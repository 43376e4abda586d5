// at most 1500 scopes: ten terms, every type and NULL
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
        a == 1 && s == "x" && b > 3 && d < 2.5 && f == true && n != nil && i >= 7 && m == 1.5 && a != 9
            && s.like("a%"))
}
