// at most 200 scopes: assignments with arithmetic
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

func update() -> Update { t.update(a <- a + 1 * 2, s <- s + "x" + "y", d <- d * 1.1 + 2, b <- nil, f <- !f) }
func insert() -> Insert { t.insert(a <- 1, s <- "x", d <- 1.5, b <- 4, f <- true, n <- nil, i <- 3, m <- 2.5) }
