// at most 10000 scopes: texts
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

func texts() -> SQLite.Expression<String> { s + " " + s + ", " + s + "." }
func optionals() -> SQLite.Expression<String?> { s + " " + n + ", " + s + "." }
func selected() -> Table { t.select(s + " " + n + ", " + s, a) }
func compared() -> Table {
    t.filter(s.lowercaseString + "x" == "a" + s && n.like("%" + "a") || s.length > 3 && n.length <= 5)
}
