// at most 2500 scopes: values of the program
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

func filtered(_ x: Int, _ y: String?, _ z: Int64) -> Table {
    t.filter(a == x && n == y && i == z && i > Int64(x) + 1 && a < x * 2 + 1)
}
