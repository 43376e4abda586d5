internal import GRDB
internal import LiteVault

/// LiteVault has a `Column` too.
private typealias GColumn = GRDB.Column

private let users = LiteVault.Table("users")
private let orders = LiteVault.Table("orders")
private let id = SQLExpression<Int64>("id")
private let email = SQLExpression<String>("email")
private let age = SQLExpression<Int>("age")
private let userID = SQLExpression<Int64>("user_id")
private let total = SQLExpression<Double>("total")

private struct UserRecord: TableRecord {
    static let databaseTableName = "users"
    static let orders = hasMany(OrderRecord.self, using: ForeignKey(["user_id"]))
}
private struct OrderRecord: TableRecord { static let databaseTableName = "orders" }

/// A query of moderate complexity as SQL text and values: two tables, a condition of three terms, an order, a limit.
/// The same text by string interpolation is what it is compared with.
func build(scale: Int) throws -> Workload {
    let count = 20_000 * scale
    let queue = try GRDB.DatabaseQueue()
    try queue.inDatabase { grdb in
        try grdb.execute(
            sql: """
                CREATE TABLE users(id INTEGER PRIMARY KEY, email TEXT, age INTEGER);
                CREATE TABLE orders(id INTEGER PRIMARY KEY, user_id INTEGER REFERENCES users(id), total REAL)
                """)
    }
    // The names come in variables, as they do from an expression.
    func interpolated(_ users: String, _ orders: String, _ names: [String], _ i: Int) -> (String, [(any Binding)?]) {
        let sql =
            "SELECT \"\(users)\".\"\(names[0])\", \"\(names[1])\", \"\(names[4])\" FROM \"\(users)\" INNER JOIN \"\(orders)\" "
            + "ON (\"\(users)\".\"\(names[0])\" = \"\(names[3])\") WHERE (((\"\(names[2])\" >= ?) AND "
            + "(\"\(names[4])\" > ?)) AND (\"\(names[1])\" LIKE ?)) ORDER BY \"\(names[4])\" DESC, "
            + "\"\(users)\".\"\(names[0])\" LIMIT \(10 + i % 10) OFFSET 20"
        return (sql, [18 + i % 10, 100.5, "%@example.com"])
    }
    func typed(_ i: Int) -> LiteVault.Table {
        users.select(users[id], email, total)
            .join(orders, on: users[id] == userID)
            .filter(age >= 18 + i % 10 && total > 100.5 && email.like("%@example.com"))
            .order(total.desc, users[id]).limit(10 + i % 10, offset: 20)
    }
    let names = ["id", "email", "age", "user_id", "total"]
    for i in 0..<10 {
        let (sql, values) = interpolated("users", "orders", names, i)
        let expression = typed(i).expression
        guard expression.template == sql, expression.bindings.count == values.count else {
            throw Failure("build: the texts differ:\n\(expression.template)\n\(sql)")
        }
    }

    return Workload(
        count: count, bar: 6,
        implementations: [
            Implementation("string interpolation", .c) { stopwatch in
                var length = 0
                stopwatch.measure {
                    for i in 0..<count {
                        let (sql, values) = interpolated("users", "orders", names, i)
                        if sql.utf8.count > 200, values.count == 3 { length += 1 }
                    }
                }
                return Int64(length)
            },
            Implementation("LiteVault query", .liteVault) { stopwatch in
                var length = 0
                stopwatch.measure {
                    for i in 0..<count {
                        let expression = typed(i).expression
                        let (sql, values) = (expression.template, expression.bindings)
                        if sql.utf8.count > 200, values.count == 3 { length += 1 }
                    }
                }
                return Int64(length)
            },
            Implementation("GRDB query interface", .grdb) { stopwatch in
                try queue.inDatabase { grdb in
                    var length = 0
                    try stopwatch.measure {
                        for i in 0..<count {
                            let orders = UserRecord.orders.select(GColumn("total")).filter(GColumn("total") > 100.5)
                            let request = UserRecord.select(GColumn("id"), GColumn("email"))
                                .joining(required: orders)
                                .filter(GColumn("age") >= 18 + i % 10).filter(GColumn("email").like("%@example.com"))
                                .order(GColumn("email").desc, GColumn("id")).limit(10 + i % 10, offset: 20)
                            let sql: GRDB.SQL = "\(request)"
                            let (text, _) = try sql.build(grdb)
                            if text.utf8.count > 100 { length += 1 }
                        }
                    }
                    return Int64(length)
                }
            },
        ])
}
