// Conditions whose type the function tells.
import SQLite

let t = Table("t")
let age = SQLite.Expression<Int>("age")
let name = SQLite.Expression<String?>("name")

func create(_ db: Connection) throws {
    try db.run(
        t.create { t in
            t.column(age, check: Expression(literal: "age > 0"))
            t.column(name, unique: true, check: .init(literal: "name <> ''"))
            t.check(Expression(literal: "age < 200"))
        })
    try db.run(t.addColumn(name, check: Expression(literal: "name <> ''")))
}
