// at most 500 scopes: ten terms, of one column
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
        a == 1 && a == 2 && a == 3 && a == 4 && a == 5 && a == 6 && a == 7 && a == 8 && a == 9 && a == 10)
}
