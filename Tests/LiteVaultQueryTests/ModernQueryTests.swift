import LiteVaultCore
import LiteVaultOperators
import LiteVaultQuery
import Testing

// Each test shows the query, its SQL and its rows; on an engine that is too old, that the error names the version.
@Suite struct ModernQueryTests {
    let db: Connection
    let sales = Table("sales")
    let id = SQLExpression<Int64>("id")
    let region = SQLExpression<String>("region")
    let day = SQLExpression<Int>("day")
    let amount = SQLExpression<Int?>("amount")

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE sales (id INTEGER PRIMARY KEY, region TEXT NOT NULL, day INTEGER NOT NULL, amount INTEGER);
            INSERT INTO sales VALUES (1, 'n', 1, 10), (2, 'n', 2, 20), (3, 'n', 2, 30), (4, 's', 1, 5), (5, 's', 3, NULL);
            """)
    }

    /// The values of an expression by id, or the error of an engine that is older.
    private func expect<T: SQLType & Equatable>(
        _ expression: SQLExpression<T>, _ text: String, _ values: [T], since version: (Int, Int),
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        #expect(expression.description == text, sourceLocation: location)
        let query: TypedQuery<(Int64, T)> = sales.select(id, expression).order(id)
        try since(version.0, version.1, location) {
            let rows = try db.all(query) { _, value in value }
            #expect(rows == values, sourceLocation: location)
        }
    }

    /// Does something on an engine of this version; on one that is older, asserts that it throws the error that names it.
    private func since(
        _ major: Int, _ minor: Int, _ location: SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let needed = SQLiteVersion(major: major, minor: minor)
        guard EngineInfo.linked.sqliteVersion < needed else { return try body() }
        #expect(sourceLocation: location) {
            try body()
        } throws: { error in ((error as? VaultError)?.cause as? EngineInfo.UnsupportedFeature)?.requiredVersion == needed }
    }

    @Test func `a query of a single column calls a closure with each value`() throws {
        var seen: [Int64] = []
        try db.forEach(sales.select(id).filter(region == "n").order(id)) { seen.append($0) }
        #expect(seen == [1, 2, 3])
    }

    @Test func `more columns are read than have a function of their own`() throws {
        let query: TypedQuery<(Int64, String, Int, Int?, Int64, String, Int, Int?, Int64, String, Int)> =
            sales.select(id, region, day, amount, id, region, day, amount, id, region, day).order(id)
        let row = try #require(try db.first(query))
        #expect(row.0 == 1 && row.3 == 10 && row.9 == "n" && row.10 == 1)
    }

    @Test func `a typed query without columns is an error, whether there are rows or not`() throws {
        let query = TypedQuery<(Int64, String)>("sales")
        for query in [query, query.filter(id < 0), query.select(id, region)] {
            #expect { _ = try db.all(query) } throws: { "\($0)".contains("make it by select of a Table") }
        }
    }

    // MARK: Windows

    @Test func `an aggregate over a partition has the partition's value in every row`() throws {
        try expect(
            amount.sum.over(.partition(by: region)), #"sum("amount") OVER (PARTITION BY "region")"#,
            [60, 60, 60, 5, 5], since: (3, 25))
        try expect(count(*).over(), "count(*) OVER ()", [5, 5, 5, 5, 5], since: (3, 25))
    }

    @Test func `a frame of rows is a running sum, one of a range counts equals as one`() throws {
        let window = Window.partition(by: region).order(day)
        try expect(
            amount.sum.over(window.order(day, id).rows(from: .unboundedPreceding)),
            #"sum("amount") OVER (PARTITION BY "region" ORDER BY "day", "id" "#
                + "ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", [10, 30, 60, 5, 5], since: (3, 25))
        try expect(
            amount.sum.over(window.range(from: .unboundedPreceding)),
            #"sum("amount") OVER (PARTITION BY "region" ORDER BY "day" "#
                + "RANGE BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)", [10, 60, 60, 5, 5], since: (3, 25))
    }

    @Test func `a frame of groups, and what a frame leaves out`() throws {
        let window = Window.order(day)
        try expect(
            count(*).over(window.groups(from: .preceding(1), to: .following(1))),
            #"count(*) OVER (ORDER BY "day" GROUPS BETWEEN 1 PRECEDING AND 1 FOLLOWING)"#, [4, 5, 5, 4, 3],
            since: (3, 28))
        try expect(
            count(*).over(window.rows(from: .unboundedPreceding, to: .unboundedFollowing, exclude: .group)),
            #"count(*) OVER (ORDER BY "day" ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP)"#,
            [3, 3, 3, 3, 4], since: (3, 28))
    }

    @Test func `ranks and neighbours over a window`() throws {
        let window = Window.partition(by: region).order(day)
        try expect(
            rank().over(window), #"rank() OVER (PARTITION BY "region" ORDER BY "day")"#, [1, 2, 2, 1, 2],
            since: (3, 25))
        try expect(
            denseRank().over(.order(day)), #"dense_rank() OVER (ORDER BY "day")"#, [1, 2, 2, 1, 3], since: (3, 25))
        try expect(
            rowNumber().over(.order(id.desc)), #"row_number() OVER (ORDER BY "id" DESC)"#, [5, 4, 3, 2, 1],
            since: (3, 25))
        try expect(
            amount.lag().over(.order(id)), #"lag("amount", 1) OVER (ORDER BY "id")"#, [nil, 10, 20, 30, 5],
            since: (3, 25))
        try expect(
            day.lead(2, or: -1).over(.order(id)), #"lead("day", 2, -1) OVER (ORDER BY "id")"#, [2, 1, 3, -1, -1],
            since: (3, 25))
        try expect(
            day.nthValue(2).over(window), #"nth_value("day", 2) OVER (PARTITION BY "region" ORDER BY "day")"#,
            [nil, 2, 2, nil, 3], since: (3, 25))
        try expect(
            id.firstValue().over(window), #"first_value("id") OVER (PARTITION BY "region" ORDER BY "day")"#,
            [1, 1, 1, 4, 4], since: (3, 25))
        try expect(ntile(5).over(.order(id)), #"ntile(5) OVER (ORDER BY "id")"#, [1, 2, 3, 4, 5], since: (3, 25))
        #expect(cumeDist().over(window).description.hasPrefix("cume_dist() OVER"))
        #expect(percentRank().over(window).description.hasPrefix("percent_rank() OVER"))
        #expect(id.lastValue().over(window).description.hasPrefix(#"last_value("id") OVER"#))
    }

    @Test func `any aggregate is called by its name, over a window too`() throws {
        try expect(
            (function("group_concat", region, "+") as SQLExpression<String?>).over(.order(id)),
            #""group_concat"("region", '+') OVER (ORDER BY "id")"#,
            ["n", "n+n", "n+n+n", "n+n+n+s", "n+n+n+s+s"], since: (3, 25))
    }

    @Test func `a window is named once, used by several functions, and extended`() throws {
        let sum = amount.sum.over("w")
        let place = rank().over("w")
        let last = amount.sum.over(.extending("w").rows(from: .preceding(1)))
        let query = sales.select(id, sum, place, last)
            .window("w", as: .partition(by: region).order(day, id)).window("all", as: .extending("w"))
        #expect(
            query.order(id).asSQL() == #"SELECT "id", sum("amount") OVER "w", rank() OVER "w", "#
                + #"sum("amount") OVER ("w" ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM "sales" "#
                + #"WINDOW "w" AS (PARTITION BY "region" ORDER BY "day", "id"), "all" AS ("w") ORDER BY "id""#)
        try since(3, 28) {
            let rows = try db.all(query.order(id), as: Row.self).map { row in
                [try row.value(of: sum), try row.value(of: place), try row.value(of: last)]
            }
            #expect(rows == [[10, 1, 10], [30, 2, 30], [60, 3, 50], [5, 1, 5], [5, 2, 5]])
        }
    }

    @Test func `a named window stands after groups and before a union, and is known to its own query only`() throws {
        let total = amount.sum.over("w")
        let query = sales.select(region, total).filter(day < 3).group(region, day)
            .window("w", as: .order(region.desc)).window("w", as: .order(region))
        #expect(
            query.union(all: true, sales.select(region, amount).limit(nil)).order(region).asSQL()
                == #"SELECT "region", sum("amount") OVER "w" FROM "sales" WHERE ("day" < 3) "#
                + #"GROUP BY "region", "day" WINDOW "w" AS (ORDER BY "region") "#
                + #"UNION ALL SELECT "region", "amount" FROM "sales" ORDER BY "region""#)
        try since(3, 25) {
            let rows = try db.all(query, as: Row.self)
            #expect(rows.count == 3)
            let error = #expect(throws: DatabaseError.self) { _ = try db.first(sales.select(amount.sum.over("none")), as: Row.self) }
            #expect(error?.message.hasPrefix("no such window") == true)
        }
    }

    // MARK: Aggregates

    @Test func `an aggregate counts the rows of a filter, and distinct values once`() throws {
        let large = amount.sum.filter(amount > 10)
        #expect(large.description == #"sum("amount") FILTER (WHERE ("amount" > 10))"#)
        try since(3, 30) {
            let row: (Int?, Int)? = try db.first(sales.select(large, count(*).filter(region == "s")))
            #expect(row?.0 == 50 && row?.1 == 2)
        }
        let different = region.distinct.count
        #expect(different.description == #"count(DISTINCT "region")"#)
        #expect(try db.value(sales.select(different)) == 2)
    }

    // MARK: Values

    @Test func `a CASE has the value of the first true condition`() throws {
        let size = when(amount > 20, then: "large").when(amount > 5, then: "medium").else("small")
        try expect(
            size,
            #"CASE WHEN ("amount" > 20) THEN 'large' WHEN ("amount" > 5) THEN 'medium' ELSE 'small' END"#,
            ["medium", "medium", "large", "small", "small"], since: (3, 0))
        try expect(
            when(day == 1, then: region).end, #"CASE WHEN ("day" = 1) THEN "region" END"#, ["n", nil, nil, "s", nil],
            since: (3, 0))
        try expect(
            when(day == 1, then: 0).else(amount), #"CASE WHEN ("day" = 1) THEN 0 ELSE "amount" END"#,
            [0, 20, 30, 0, nil], since: (3, 0))
    }

    @Test func `a CAST names its type`() throws {
        try expect(
            day.cast(to: String.self), #"CAST ("day" AS TEXT)"#, ["1", "2", "2", "1", "3"], since: (3, 0))
        try expect(
            amount.cast(to: String.self), #"CAST ("amount" AS TEXT)"#, ["10", "20", "30", "5", nil], since: (3, 0))
    }

    // MARK: Subqueries

    @Test func `a query contains a value, exists, and is a value`() throws {
        let late = sales.filter(day > 2).select(region)
        let query: ScalarQuery<Int64> = sales.filter(late.contains(region)).select(id).order(id)
        #expect(
            query.asSQL()
                == #"SELECT "id" FROM "sales" WHERE ("region" IN (SELECT "region" FROM "sales" WHERE ("day" > 2))) "#
                + #"ORDER BY "id""#)
        #expect(try db.all(query) == [4, 5])
        let others = sales.alias("others")
        let same = others.filter(others[day] == sales[day] && others[id] != sales[id])
        #expect(
            exists(same).description
                == #"EXISTS (SELECT * FROM "sales" AS "others" "#
                + #"WHERE (("others"."day" = "sales"."day") AND ("others"."id" != "sales"."id")))"#)
        #expect(try db.all(sales.filter(exists(same)).select(id).order(id)) == [1, 2, 3, 4])
        let most = sales.select(amount.max).asExpression()
        try expect(
            most, #"(SELECT max("amount") FROM "sales")"#, [30, 30, 30, 30, 30], since: (3, 0))
    }

    // MARK: Joins

    @Test func `right and full joins keep the rows of the other table`() throws {
        try db.execute("CREATE TABLE regions (code TEXT, label TEXT); INSERT INTO regions VALUES ('s', 'South'), ('w', 'West')")
        let regions = Table("regions")
        let code = SQLExpression<String>("code")
        let label = SQLExpression<String?>("label")
        let right: TypedQuery<(String?, Int64?)> = sales.join(.rightOuter, regions, on: code == region).select(label, sales[id].max)
            .group(label).order(label)
        #expect(
            right.asSQL()
                == #"SELECT "label", max("sales"."id") FROM "sales" RIGHT OUTER JOIN "regions" ON ("code" = "region") "#
                + #"GROUP BY "label" ORDER BY "label""#)
        try since(3, 39) {
            let rows = try db.all(right) { label, last in "\(label ?? "-") \(last ?? 0)" }
            #expect(rows == ["South 5", "West 0"])
        }
        let full = sales.join(.fullOuter, regions, on: code == region).count
        #expect(full.asSQL().contains(#""sales" FULL OUTER JOIN "regions""#))
        try since(3, 39) {
            let count = try db.value(full)
            #expect(count == 6)
        }
    }

    // MARK: Order

    @Test func `NULL is first or last as asked`() throws {
        let query: ScalarQuery<Int64> = sales.select(id).order(amount.asc(nulls: .last), id)
        #expect(query.asSQL() == #"SELECT "id" FROM "sales" ORDER BY "amount" ASC NULLS LAST, "id""#)
        try since(3, 30) {
            let ids = try db.all(query)
            #expect(ids == [4, 1, 2, 3, 5])
        }
        try since(3, 30) {
            let first = try db.first(sales.select(id).order(amount.desc(nulls: .first)))
            #expect(first == 5)
        }
    }

    // MARK: Common table expressions

    @Test func `a hint says whether a common table expression is computed once`() throws {
        let totals = Table("totals")
        for (hint, text) in [(Table.MaterializationHint.materialized, "MATERIALIZED"), (.notMaterialized, "NOT MATERIALIZED")] {
            let query: ScalarQuery<Int> = totals.with(
                totals, hint: hint, as: sales.select(region, amount.sum).group(region)
            ).count
            #expect(
                query.asSQL()
                    == "WITH \"totals\" AS \(text) (SELECT \"region\", sum(\"amount\") FROM \"sales\" GROUP BY \"region\") "
                    + "SELECT count(*) FROM \"totals\"")
            try since(3, 35) {
                let count = try db.value(query)
                #expect(count == 2)
            }
        }
    }
}
