// at most 3500 scopes: ten terms, as a CHECK of a column, of a table and of an index
import Foundation
import SQLite

let t = Table("t")
let a = SQLite.Expression<Int>("a")
let b = SQLite.Expression<Int?>("b")

func create(_ db: Connection) throws {
    try db.run(
        t.create { t in
            t.column(
                a, check: a == 1 || a == 2 || a == 3 || a == 4 || a == 5 || a == 6 || a == 7 || a == 8 || a == 9 || a == 10)
            t.check(b == 1 || b == 2 || b == 3 || b == 4 || b == 5 || b == 6 || b == 7 || b == 8 || b == 9 || b == 10)
        })
}
