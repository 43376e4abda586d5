import SQLite
import Testing

@Suite struct RecursiveQuerySeeds {
    let db: Connection
    let managers = Table("managers")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE managers (id INTEGER PRIMARY KEY, manager_id INTEGER);
            INSERT INTO managers VALUES (1, 0), (4, 1), (8, 4), (9, 1);
            """)
    }

    // seeds 000:1241 001:693
    @Test func `the management chain of a manager`() throws {
        // Get the management chain for the manager with id == 8

        let chain = Table("chain")
        let id = Expression<Int64>("id")
        let managerId = Expression<Int64>("manager_id")

        // `managers[id]` and `select(managers[*])`: with the documentation's `id` and `*` the engine finds the column
        // ambiguous and the columns of both sides different in number.
        let query =
            managers
            .where(id == 8)
            .union(chain.select(managers[*]).join(managers, on: chain[managerId] == managers[id]))

        let whole = chain.with(chain, recursive: true, as: query)
        expectSQL(
            whole,
            """
            WITH RECURSIVE "chain" AS (SELECT * FROM "managers" WHERE "id" = 8 UNION SELECT * from "chain" \
            JOIN "managers" ON "chain"."manager_id" = "managers"."id") SELECT * FROM "chain"
            """,
            really: """
                WITH RECURSIVE "chain" AS (SELECT * FROM "managers" WHERE ("id" = 8) UNION SELECT "managers".* FROM "chain" \
                INNER JOIN "managers" ON ("chain"."manager_id" = "managers"."id")) SELECT * FROM "chain"
                """)
        #expect(try db.prepareRowIterator(whole).map { $0[id] } == [8, 4, 1])
        let asWritten = managers.where(id == 8).union(
            chain.join(managers, on: chain[managerId] == managers[id]))
        #expect(throws: Result.self) { try db.prepare(chain.with(chain, recursive: true, as: asWritten)) }
    }

    // seeds 000:1265 001:715
    @Test func `the chain with levels, named columns and a hint`() throws {
        let chain = Table("chain")
        let id = Expression<Int64>("id")
        let managerId = Expression<Int64>("manager_id")
        // Add a "level" column to the query representing manager's position in the chain
        let level = Expression<Int64>("level")

        let queryWithLevel =
            managers
            .select(id, managerId, 0)
            .where(id == 8)
            .union(
                chain
                    .select(managers[id], managers[managerId], level + 1)
                    .join(managers, on: chain[managerId] == managers[id])
            )

        let whole = chain.with(
            chain,
            columns: [id, managerId, level],
            recursive: true,
            hint: .materialize,
            as: queryWithLevel)
        expectSQL(
            whole,
            """
            WITH RECURSIVE "chain" ("id", "manager_id", "level") AS MATERIALIZED (\
            SELECT ("id", "manager_id", 0) FROM "managers" WHERE "id" = 8 UNION \
            SELECT ("manager"."id", "manager"."manager_id", "level" + 1) FROM "chain" \
            JOIN "managers" ON "chain"."manager_id" = "managers"."id") SELECT * FROM "chain"
            """,
            really: """
                WITH RECURSIVE "chain" ("id", "manager_id", "level") AS MATERIALIZED (\
                SELECT "id", "manager_id", 0 FROM "managers" WHERE ("id" = 8) UNION \
                SELECT "managers"."id", "managers"."manager_id", ("level" + 1) FROM "chain" \
                INNER JOIN "managers" ON ("chain"."manager_id" = "managers"."id")) SELECT * FROM "chain"
                """)
        guard engineHas(3, 35) else {
            expectNeeds("3.35.0") { _ = try db.prepare(whole) }
            return
        }
        #expect(try db.prepareRowIterator(whole).map { [$0[id], $0[level]] } == [[8, 0], [4, 1], [1, 2]])
    }
}
