import SQLite
import Testing

@Suite struct QuerySignatures {
    let users = Table("users")
    let posts = Table("posts")
    let id = Expression<Int64>("id")
    let email = Expression<String>("email")
    let age = Expression<Int?>("age")
    let admin = Expression<Bool>("admin")
    let optionalAdmin = Expression<Bool?>("admin")
    let userId = Expression<Int64>("user_id")
    let categoryId = Expression<Int64>("category_id")
    let published = Expression<Bool>("published")

    @Test func `select names columns, distinct ones or all`() {
        assertSQL("SELECT * FROM \"users\"", users)
        assertSQL("SELECT \"email\" FROM \"users\"", users.select(email))
        assertSQL("SELECT \"email\", count(*) FROM \"users\"", users.select(email, count(*)))
        assertSQL("SELECT \"email\", \"age\" FROM \"users\"", users.select([email, age]))
        assertSQL("SELECT DISTINCT \"age\" FROM \"users\"", users.select(distinct: age))
        assertSQL("SELECT DISTINCT \"email\" FROM \"users\"", users.select(distinct: email))
        assertSQL("SELECT DISTINCT \"age\", \"email\" FROM \"users\"", users.select(distinct: age, email))
        assertSQL("SELECT DISTINCT \"age\", \"email\" FROM \"users\"", users.select(distinct: [age, email]))
        assertSQL("SELECT * FROM \"users\"", users.select(*))
        assertSQL("SELECT DISTINCT * FROM \"users\"", users.select(distinct: *))
        let query: Table = users.select(email, age)
        let all: Table = users.select(*)
        let scalar: ScalarQuery<String> = users.select(email)
        let optional: ScalarQuery<Int?> = users.select(age)
        let distinct: ScalarQuery<String> = users.select(distinct: email)
        let distinctOptional: ScalarQuery<Int?> = users.select(distinct: age)
        for text in [scalar.asSQL(), optional.asSQL(), distinct.asSQL(), distinctOptional.asSQL(), query.asSQL(), all.asSQL()] {
            #expect(text.hasSuffix("FROM \"users\""))
        }
        let counted: ScalarQuery<Int> = users.count
        assertSQL("SELECT count(*) FROM \"users\"", counted)
        assertSQL("SELECT max(\"age\") FROM \"users\"", users.select(age.max))
    }

    @Test func `union appends another query`() {
        assertSQL(
            "SELECT * FROM \"users\" WHERE (\"age\" < 30) UNION SELECT * FROM \"users\" WHERE (\"admin\" = 1)",
            users.filter(age < 30).union(users.filter(admin == true)))
        assertSQL(
            "SELECT * FROM \"users\" WHERE (\"age\" < 30) UNION ALL SELECT * FROM \"users\" WHERE (\"admin\" = 1)",
            users.filter(age < 30).union(all: true, users.filter(admin == true)))
    }

    @Test func `join has a type and a condition`() {
        assertSQL(
            "SELECT * FROM \"users\" INNER JOIN \"posts\" ON (\"posts\".\"user_id\" = \"users\".\"id\")",
            users.join(posts, on: posts[userId] == users[id]))
        assertSQL(
            "SELECT * FROM \"users\" LEFT OUTER JOIN \"posts\" ON (\"posts\".\"user_id\" = \"users\".\"id\")",
            users.join(.leftOuter, posts, on: posts[userId] == users[id]))
        assertSQL(
            "SELECT * FROM \"users\" CROSS JOIN \"posts\" ON (\"posts\".\"user_id\" = \"users\".\"id\")",
            users.join(.cross, posts, on: posts[userId] == users[id]))
        let managerId = Expression<Int64?>("manager_id")
        let managers = users.alias("managers")
        assertSQL(
            "SELECT * FROM \"users\" INNER JOIN \"users\" AS \"managers\" ON (\"managers\".\"id\" = \"users\".\"manager_id\")",
            users.join(managers, on: managers[id] == users[managerId]))
        assertSQL(
            "SELECT * FROM \"users\" LEFT OUTER JOIN \"users\" AS \"managers\" "
                + "ON (\"managers\".\"id\" = \"users\".\"manager_id\")",
            users.join(.leftOuter, managers, on: managers[id] == users[managerId]))
        assertSQL(
            "SELECT * FROM \"users\" INNER JOIN \"posts\" ON ((\"posts\".\"user_id\" = \"users\".\"id\") AND \"published\")",
            users.join(posts.filter(published), on: posts[userId] == users[id]))
        let categories = Table("categories")
        assertSQL(
            "SELECT * FROM \"users\" INNER JOIN \"posts\" ON (\"posts\".\"user_id\" = \"users\".\"id\") "
                + "INNER JOIN \"categories\" ON (\"categories\".\"id\" = \"posts\".\"category_id\")",
            users.join(posts, on: posts[userId] == users[id])
                .join(categories, on: categories[id] == posts[categoryId]))
        #expect([JoinType.cross, .inner, .leftOuter].map(\.rawValue) == ["CROSS", "INNER", "LEFT OUTER"])
    }

    @Test func `filter and where take a condition that may be NULL, and add up`() {
        assertSQL("SELECT * FROM \"users\" WHERE (\"admin\" = 1)", users.filter(admin == true))
        assertSQL("SELECT * FROM \"users\" WHERE (\"admin\" = 0)", users.filter(admin == false))
        assertSQL("SELECT * FROM \"users\" WHERE (\"admin\" = 1)", users.filter(optionalAdmin == true))
        assertSQL("SELECT * FROM \"users\" WHERE \"admin\"", users.filter(admin))
        assertSQL("SELECT * FROM \"users\" WHERE \"admin\"", users.where(optionalAdmin))
        assertSQL("SELECT * FROM \"users\" WHERE (\"age\" >= 35)", users.where(age >= 35))
        assertSQL("SELECT * FROM \"users\" WHERE (\"admin\" = 1)", users.where(admin == true))
        assertSQL(
            "SELECT * FROM \"users\" WHERE ((\"age\" >= 35) AND (\"admin\" = 1))",
            users.filter(age >= 35).filter(admin == true))
        assertSQL(
            "SELECT * FROM \"users\" WHERE (\"age\" BETWEEN 1 AND 3)", users.filter((1...3) ~= age))
    }

    @Test func `group has columns and a condition`() {
        assertSQL("SELECT * FROM \"users\" GROUP BY \"age\"", users.group(age))
        assertSQL("SELECT * FROM \"users\" GROUP BY \"age\", \"admin\"", users.group(age, admin))
        assertSQL("SELECT * FROM \"users\" GROUP BY \"age\", \"admin\"", users.group([age, admin]))
        assertSQL("SELECT * FROM \"users\" GROUP BY \"age\" HAVING \"admin\"", users.group(age, having: admin))
        assertSQL("SELECT * FROM \"users\" GROUP BY \"age\" HAVING (\"age\" >= 30)", users.group(age, having: age >= 30))
        assertSQL(
            "SELECT * FROM \"users\" GROUP BY \"age\", \"admin\" HAVING \"admin\"", users.group([age, admin], having: admin))
        assertSQL(
            "SELECT * FROM \"users\" GROUP BY \"age\", \"admin\" HAVING (\"age\" >= 30)",
            users.group([age, admin], having: age >= 30))
    }

    @Test func `order and limit replace earlier ones`() {
        assertSQL("SELECT * FROM \"users\" ORDER BY \"age\"", users.order(age))
        assertSQL("SELECT * FROM \"users\" ORDER BY \"age\", \"email\"", users.order(age, email))
        assertSQL("SELECT * FROM \"users\" ORDER BY \"age\", \"email\"", users.order([age, email]))
        assertSQL("SELECT * FROM \"users\" ORDER BY \"age\" DESC, \"email\" ASC", users.order(age.desc, email.asc))
        assertSQL("SELECT * FROM \"users\" ORDER BY \"email\"", users.order(age).order(email))
        assertSQL("SELECT * FROM \"users\" ORDER BY random()", users.order(Expression<Int>.random()))
        assertSQL("SELECT * FROM \"users\" LIMIT 5", users.limit(5))
        assertSQL("SELECT * FROM \"users\" LIMIT 5 OFFSET 5", users.limit(5, offset: 5))
        assertSQL("SELECT * FROM \"users\" LIMIT 5", users.limit(10).limit(5))
        assertSQL("SELECT * FROM \"users\" LIMIT 5 OFFSET 5", users.limit(10, offset: 10).limit(5, offset: 5))
        assertSQL("SELECT * FROM \"users\"", users.limit(5).limit(nil))
    }

    @Test func `names are qualified by alias, table and database`() {
        assertSQL("SELECT * FROM \"users\" AS \"managers\"", users.alias("managers"))
        assertSQL("\"users\".\"id\"", users[id])
        assertSQL("\"users\".\"age\"", users[age])
        assertSQL("\"users\".\"id\"", users.namespace(id))
        assertSQL("\"users\".*", users[*])
        assertSQL("SELECT \"users\".* FROM \"users\"", users.select(users[*]))
        assertSQL("\"managers\".\"id\"", users.alias("managers")[id])
        assertSQL("SELECT * FROM \"main\".\"users\"", Table("users", database: "main"))
        assertSQL("\"main\".\"users\".\"id\"", Table("users", database: "main")[id])
        assertSQL("SELECT * FROM \"view\"", View("view"))
        assertSQL("SELECT * FROM \"search\"", VirtualTable("search"))
        #expect(Table.identifier == "TABLE" && View.identifier == "VIEW" && VirtualTable.identifier == "VIRTUAL TABLE")
        func named<T: SchemaType>(_: T.Type) -> T { T("users", database: nil) }
        assertSQL("SELECT * FROM \"users\"", named(Table.self))
        let clauses: QueryClauses = users.clauses
        var copy = Table("other")
        copy.clauses = clauses
        assertSQL("SELECT * FROM \"users\"", copy)
        let expression: Expression<Void> = users.filter(id == 1).expression
        #expect(expression.bindings.count == 1)
        assertSQL("SELECT * FROM \"t\"", ScalarQuery<Int>("t"))
    }

    @Test func `with puts common table expressions first`() {
        let temp = Table("temp")
        assertSQL("WITH \"temp\" AS (SELECT * FROM \"users\") SELECT * FROM \"temp\"", temp.with(temp, as: users))
        assertSQL(
            "WITH RECURSIVE \"temp\" AS (SELECT * FROM \"users\") SELECT * FROM \"temp\"",
            temp.with(temp, recursive: true, as: users))
        assertSQL(
            "WITH \"temp\" AS MATERIALIZED (SELECT * FROM \"users\") SELECT * FROM \"temp\"",
            temp.with(temp, hint: .materialized, as: users))
        assertSQL(
            "WITH \"temp\" AS NOT MATERIALIZED (SELECT * FROM \"users\") SELECT * FROM \"temp\"",
            temp.with(temp, hint: .notMaterialized, as: users))
        assertSQL(
            "WITH \"temp\" (\"id\", \"email\") AS (SELECT * FROM \"users\") SELECT * FROM \"temp\"",
            temp.with(temp, columns: [id, email], recursive: false, hint: nil, as: users))
        let second = Table("second")
        assertSQL(
            "WITH \"temp\" AS (SELECT * FROM \"users\"), \"second\" AS (SELECT * FROM \"temp\") SELECT * FROM \"temp\"",
            temp.with(temp, as: users).with(second, as: temp))
        let hints: [MaterializationHint] = [.materialized, .notMaterialized]
        #expect(hints.map(\.rawValue) == ["MATERIALIZED", "NOT MATERIALIZED"])
    }

    @Test func `insert takes setters, a conflict resolution, many rows, nothing or a query`() {
        let text = "INTO \"users\" (\"email\", \"age\") VALUES ('alice@example.com', 30)"
        assertSQL("INSERT \(text)", users.insert(email <- "alice@example.com", age <- 30))
        assertSQL("INSERT \(text)", users.insert([email <- "alice@example.com", age <- 30]))
        assertSQL("INSERT OR REPLACE \(text)", users.insert(or: .replace, email <- "alice@example.com", age <- 30))
        assertSQL("INSERT OR ROLLBACK \(text)", users.insert(or: .rollback, [email <- "alice@example.com", age <- 30]))
        let rows = [[email <- "a", age <- 30], [email <- "b", age <- 32]]
        let many = "INTO \"users\" (\"email\", \"age\") VALUES ('a', 30), ('b', 32)"
        assertSQL("INSERT \(many)", users.insertMany(rows))
        assertSQL("INSERT OR IGNORE \(many)", users.insertMany(or: .ignore, rows))
        assertSQL("INSERT OR ABORT \(many)", users.insertMany(or: .abort, [email <- "a", age <- 30], [email <- "b", age <- 32]))
        assertSQL("INSERT OR FAIL \(many)", users.insertMany(or: .fail, rows))
        assertSQL("INSERT INTO \"users\" DEFAULT VALUES", users.insert())
        let emails = Table("emails")
        let fromQuery: Update = emails.insert(users.select(email).filter(admin))
        assertSQL("INSERT INTO \"emails\" SELECT \"email\" FROM \"users\" WHERE \"admin\"", fromQuery)
        assertSQL("INSERT INTO \"users\" (\"age\") VALUES (NULL)", users.insert(age <- nil))
    }

    @Test func `upsert updates by the excluded row or by setters`() {
        let head = "INSERT INTO \"users\" (\"email\", \"age\") VALUES ('a', 30) ON CONFLICT (\"email\") DO UPDATE SET "
        let excluded = head + "\"age\" = \"excluded\".\"age\""
        assertSQL(excluded, users.upsert(email <- "a", age <- 30, onConflictOf: email))
        assertSQL(excluded, users.upsert([email <- "a", age <- 30], onConflictOf: email))
        let set = head + "\"age\" = 31"
        assertSQL(set, users.upsert(email <- "a", age <- 30, onConflictOf: email, set: [age <- 31]))
        assertSQL(set, users.upsert([email <- "a", age <- 30], onConflictOf: email, set: [age <- 31]))
    }

    @Test func `update and delete act on the rows of the query`() {
        assertSQL(
            "UPDATE \"users\" SET \"age\" = 30, \"admin\" = 1 WHERE (\"id\" = 1)",
            users.filter(id == 1).update(age <- 30, admin <- true))
        assertSQL("UPDATE \"users\" SET \"age\" = 30", users.update([age <- 30]))
        assertSQL("UPDATE \"users\" SET \"age\" = 30 ORDER BY \"id\" LIMIT 1", users.order(id).limit(1).update(age <- 30))
        assertSQL("DELETE FROM \"users\" WHERE (\"id\" = 1)", users.filter(id == 1).delete())
        assertSQL("DELETE FROM \"users\" ORDER BY \"id\" LIMIT 1", users.order(id).limit(1).delete())
    }

    @Test func `exists is a query of a query`() {
        let exists: Select<Bool> = users.exists
        assertSQL("SELECT EXISTS (SELECT * FROM \"users\")", exists)
        assertSQL("SELECT EXISTS (SELECT * FROM \"users\" WHERE (\"id\" = 1))", users.filter(id == 1).exists)
    }

    @Test func `statements are created from a template and values`() {
        let select = Select<Int>("SELECT ?", [1 as Int64])
        let insert = Insert("INSERT ?", [1 as Int64])
        let update = Update("UPDATE ?", [1 as Int64])
        let delete = Delete("DELETE ?", [1 as Int64])
        assertSQL("SELECT 1", select)
        assertSQL("INSERT 1", insert)
        assertSQL("UPDATE 1", update)
        assertSQL("DELETE 1", delete)
        #expect([select.template, insert.template, update.template, delete.template].allSatisfy { $0.hasSuffix("?") })
        #expect(select.bindings.count + insert.bindings.count + update.bindings.count + delete.bindings.count == 4)
        #expect(delete.description == "DELETE 1")
        let names: [OnConflict] = [.replace, .rollback, .abort, .fail, .ignore]
        #expect(names.map(\.rawValue) == ["REPLACE", "ROLLBACK", "ABORT", "FAIL", "IGNORE"])
    }
}
