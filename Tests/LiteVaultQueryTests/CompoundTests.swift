import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

/// Queries of queries: an operand, and what is counted or written, are the rows that the query returns.
@Suite struct CompoundTests {
    let db: Connection
    let value = SQLExpression<Int>("i")
    let one = Table("one")
    let two = Table("two")
    let three = Table("three")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE one (i); INSERT INTO one VALUES (1), (2), (3), (3);
            CREATE TABLE two (i); INSERT INTO two VALUES (2);
            CREATE TABLE three (i); INSERT INTO three VALUES (3), (4);
            """)
    }

    private func rows(_ query: some QueryType) throws -> [Int] {
        try db.all(query, as: Row.self).map { try $0.value(of: value) }.sorted()
    }

    @Test func `an operand is one query, whatever it is made of`() throws {
        #expect(try rows(one.except(two.union(three))) == [1])
        #expect(try rows(two.unionAll(two.union(two))) == [2, 2])
        #expect(try rows(one.unionAll(three.order(value.desc).limit(1))) == [1, 2, 3, 3, 4])
        #expect(try rows(one.intersect(three).union(two)) == [2, 3])
        let nested = one.except(two.union(three))
        #expect(nested.asSQL() == #"SELECT * FROM "one" EXCEPT SELECT * FROM (SELECT * FROM "two" UNION SELECT * FROM "three")"#)
        #expect(one.union(two).asSQL() == #"SELECT * FROM "one" UNION SELECT * FROM "two""#)
    }

    @Test func `the count is the number of rows that the query returns`() throws {
        #expect(try db.value(one.count) == 4)
        #expect(try db.value(one.limit(2).count) == 2)
        #expect(try db.value(one.limit(2, offset: 3).count) == 1)
        #expect(try db.value(one.limit(0).count) == 0)
        #expect(try db.value(one.select(distinct: value).count) == 3)
        #expect(try db.value(one.group(value).count) == 3)
        #expect(try db.value(one.group(value, having: value > 5).count) == 0)
        #expect(try db.value(one.union(three).count) == 4)
        #expect(one.filter(value > 1).count.asSQL() == #"SELECT count(*) FROM "one" WHERE ("i" > 1)"#)
    }

    @Test func `of a join, the rows of its first table that are in it are written`() throws {
        let joined = one.join(three, on: one[value] == three[value])
        #expect(try db.run(joined.update(value <- 7)).changes == 2)
        #expect(try rows(one) == [1, 2, 7, 7])
        #expect(try db.run(one.join(two, on: one[value] == two[value]).delete()).changes == 1)
        #expect(try rows(one) == [1, 7, 7])
        #expect(try db.run(joined.delete()).changes == 0)
        // A column may have the name of the rowid.
        try db.execute("CREATE TABLE odd (i, rowid); INSERT INTO odd VALUES (3, 'x'), (5, 'x')")
        let odd = Table("odd")
        #expect(try db.run(odd.join(three, on: odd[value] == three[value]).delete()).changes == 1)
        #expect(try rows(odd) == [5])
        try db.execute("CREATE TABLE keyed (i PRIMARY KEY) WITHOUT ROWID; INSERT INTO keyed VALUES (3), (5)")
        let keyed = Table("keyed")
        #expect(throws: DatabaseError.self) { try db.run(keyed.join(three, on: keyed[value] == three[value]).delete()) }
        #expect(try rows(keyed) == [3, 5])
    }
    @Test func `H-SCH-22 of a grouped query, one row of each group is written`() throws {
        #expect(try db.run(one.group(value, having: value.count > 1).delete()).changes == 1)
        #expect(try rows(one) == [1, 2, 3])
        try db.run("INSERT INTO one VALUES (3)")
        #expect(try db.run(one.filter(value > 1).group(value).update(value <- 7)).changes == 2)
        #expect(try rows(one) == [1, 3, 7, 7])
        #expect(
            one.group(value).delete().asSQL()
                == #"DELETE FROM "one" WHERE ("_rowid_" IN (SELECT "one"."_rowid_" FROM "one" GROUP BY "i"))"#)
    }

    @Test func `a condition may refer to what WITH names when rows are written`() throws {
        let picked = Table("picked")
        let named = one.with(picked, as: three.select(value)).filter(picked.select(value).contains(value))
        #expect(try db.run(named.update(value <- 4)).changes == 2)
        #expect(try rows(one) == [1, 2, 4, 4])
        #expect(try db.run(named.delete()).changes == 2)
        #expect(try rows(one) == [1, 2])
    }

    @Test func `H-SCH-22 the rows of a compound query are not written`() throws {
        for query in [one.except(two), one.union(two), one.intersect(three), one.group(value).unionAll(two)] {
            #expect { try db.run(query.delete()) } throws: { ($0 as? VaultError)?.code == .unsupported }
            #expect { try db.run(query.update(value <- 7)) } throws: { ($0 as? VaultError)?.code == .unsupported }
        }
        #expect(try rows(one) == [1, 2, 3, 3])
    }
}
