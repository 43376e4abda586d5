import LiteVault

/// The number of rows, enough for each migration to take some milliseconds.
private let rows = 1500

/// One migration of every kind.
let migrator: Migrator = {
    var migrator = Migrator()
    migrator.registerMigration("create") { db in
        try db.create(table: "author") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().indexed()
        }
        try db.create(table: "book") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text).notNull()
            t.column("old", .text)
            t.belongsTo("author", onDelete: .cascade).notNull()
        }
    }
    migrator.registerMigration("fill") { db in
        try db.run("\(sql: numbers) INSERT INTO author (name) SELECT 'author ' || n FROM numbers WHERE n <= 100")
        try db.run("\(sql: numbers) INSERT INTO book (title, authorId) SELECT 'book ' || n, n % 100 + 1 FROM numbers")
    }
    migrator.registerMigration("add columns") { db in
        try db.alter(table: "book") { t in
            t.add(column: "pages", .integer).notNull().defaults(to: 100)
            t.add(column: "code", .text).unique()
        }
    }
    migrator.registerMigration("change rows") { db in
        try db.run("UPDATE book SET code = 'c' || id, pages = id % 700 + 1")
    }
    migrator.registerMigration("recreate a parent") { db in
        try db.recreate(table: "author", copying: ["name": Column("name").uppercaseString]) { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull().check { length($0) > 0 }
            t.column("born", .integer)
        }
    }
    migrator.registerMigration("rename and drop columns") { db in
        try db.alter(table: "book") { t in
            t.rename(column: "title", to: "name")
            t.drop(column: "old")
        }
    }
    migrator.registerMigration("index") { db in
        try db.create(
            index: "longest", on: "book", expressions: [Column("pages").desc], condition: Column("pages") > 50)
    }
    migrator.registerMigration("full text") { db in
        try db.create(virtualTable: "book_ft", using: FTS4()) { t in
            t.synchronize(withTable: "book")
            t.column("name")
        }
    }
    migrator.registerMigration("rename a parent", foreignKeyChecks: .immediate) { db in
        try db.rename(table: "author", to: "writer")
    }
    migrator.registerMigration("view") { db in
        try db.create(view: "shelf", as: Table("book").filter(Column("pages") > 300).select(Column("name")))
        try db.run("DELETE FROM writer WHERE id % 3 = 0 AND id NOT IN (SELECT authorId FROM book)")
    }
    migrator.registerMigration("recreate a child") { db in
        try db.recreate(table: "book") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("name", .text).notNull()
            t.column("pages", .integer).notNull().indexed()
            t.belongsTo("writer", indexed: false)
            t.column("authorId", .integer).notNull().references("writer", onDelete: .cascade)
        }
    }
    migrator.registerMigration("more rows") { db in
        try db.run("INSERT INTO book (name, pages, authorId) SELECT name || '!', pages, authorId FROM book")
    }
    return migrator
}()

private let numbers =
    "WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(rows))"
