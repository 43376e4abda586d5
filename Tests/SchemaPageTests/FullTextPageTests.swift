import LiteVault
import Testing

/// Not every engine has FTS5.
let hasFTS5 = (try? Connection().execute("CREATE VIRTUAL TABLE t USING fts5(a)")) != nil

@Suite struct FullTextPageTests {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.create(table: "document") { t in
            t.autoIncrementedPrimaryKey("id")
            t.column("title", .text)
            t.column("my text", .text)
        }
        try db.run("INSERT INTO document VALUES (5, 'first', 'wondering about it')")
    }

    private func found(_ word: String, in table: String = "ft") throws -> [Int64] {
        try db.all("SELECT rowid FROM \"\(sql: table)\" WHERE \"\(sql: table)\" MATCH ? ORDER BY 1", with: word) {
            try $0.get(0)
        }
    }

    @Test func `an FTS3 table has columns and a tokenizer`() throws {
        try db.create(virtualTable: "ft", using: FTS3()) { t in
            t.column("author")
            t.column("full \"text\"")
            t.tokenizer = .porter
        }
        #expect(
            try db.sql("ft") == #"CREATE VIRTUAL TABLE "ft" USING fts3("author", "full ""text""", tokenize=porter)"#)
        try db.run("INSERT INTO ft VALUES ('me', 'wondering')")
        #expect(try found("wonder") == [1])
        #expect(try db.columns("ft") == ["author", "full \"text\""])
        try db.create(virtualTable: "plain", options: .ifNotExists, using: FTS3())
        #expect(try db.sql("plain") == #"CREATE VIRTUAL TABLE "plain" USING fts3"#)
    }

    @Test func `an FTS4 table has options`() throws {
        try db.create(virtualTable: "ft", using: FTS4()) { t in
            t.column("content")
            t.column("uid").notIndexed()
            t.column("lid").asLanguageId()
            t.tokenizer = .unicode61(diacritics: .keep, separators: ["X"], tokenCharacters: ["-", "."])
            t.matchinfo = .fts3
            t.prefixes = [4, 2]
        }
        #expect(
            try db.sql("ft") == """
                CREATE VIRTUAL TABLE "ft" USING fts4("content", "uid", \
                tokenize=unicode61 "remove_diacritics=0" "separators=X" "tokenchars=-.", prefix="2,4", \
                notindexed="uid", languageid="lid", matchinfo="fts3")
                """)
        try db.run("INSERT INTO ft (content, uid) VALUES ('a-b cXd é', 'unseen')")
        #expect(try found("a-b") == [1] && found("c") == [1] && found("e") == [] && found("unseen") == [])
    }

    @Test func `an FTS4 table follows a table`() throws {
        try db.create(virtualTable: "ft", ifNotExists: false, using: FTS4()) { t in
            t.synchronize(withTable: "document")
            t.column("title")
            t.column("my text")
        }
        #expect(try found("wondering") == [5], "it was filled")
        try follow()
        try db.drop(table: "ft")
        try db.dropFTS4SynchronizationTriggers(forTable: "ft")
        try db.run("DELETE FROM document")
        #expect(try db.schema.objectDefinitions(type: .trigger).isEmpty)
    }

    @Test(.enabled(if: hasFTS5, "the engine was built without FTS5"))
    func `an FTS5 table has options`() throws {
        try db.create(virtualTable: "ft", using: FTS5()) { t in
            t.column("a")
            t.column("b").notIndexed()
            t.tokenizer = .porter(wrapping: .unicode61(diacritics: .keep, tokenCharacters: ["-"]))
            t.prefixes = [2, 4]
            t.columnSize = 0
            t.detail = .column
        }
        #expect(
            try db.sql("ft") == """
                CREATE VIRTUAL TABLE "ft" USING fts5("a", "b" UNINDEXED, \
                tokenize="porter unicode61 remove_diacritics 0 tokenchars '-'", prefix="2,4", columnsize=0, \
                detail="column")
                """)
        try db.run("INSERT INTO ft VALUES ('wondering well-known é', 'unseen')")
        #expect(
            try found("wonder") == [1] && found("\"well-known\"") == [1] && found("e") == [] && found("unseen") == [])
    }

    @Test(.enabled(if: hasFTS5, "the engine was built without FTS5"))
    func `an FTS5 table follows a table`() throws {
        try db.create(virtualTable: "ft", using: FTS5()) { t in
            t.synchronize(withTable: "document")
            t.column("title")
            t.column("my text")
        }
        #expect(try found("wondering") == [5], "it was filled")
        try follow()
        try db.run("INSERT INTO ft(ft) VALUES('integrity-check')")
        try db.drop(table: "ft")
        try db.dropFTS5SynchronizationTriggers(forTable: "ft")
        try db.run("DELETE FROM document")
        #expect(try db.schema.objectDefinitions(type: .trigger).isEmpty)
    }

    @Test func `without FTS5 the error says so`() throws {
        let create = { try db.create(virtualTable: "ft", using: FTS5()) { t in t.column("a") } }
        guard !hasFTS5 else { return try create() }
        #expect { try create() } throws: { ($0 as? VaultError)?.code == .unsupported }
    }

    /// Changes the content in every way, and searches after each.
    private func follow() throws {
        try db.run("INSERT INTO document (title, \"my text\") VALUES ('second', 'more of it')")
        #expect(try found("it") == [5, 6])
        try db.run("UPDATE document SET \"my text\" = 'nothing' WHERE id = 6")
        #expect(try found("it") == [5] && found("nothing") == [6])
        try db.run("UPDATE document SET id = 9 WHERE id = 6")
        #expect(try found("nothing") == [9])
        try db.run("DELETE FROM document WHERE id = 5")
        #expect(try found("it") == [])
    }

    @Test func `a rowid that a column hides is found by another name, for an index that an earlier version made`()
        throws
    {
        try db.create(table: "odd") { t in
            t.column("rowid", .text)
            t.column("text", .text)
        }
        try db.run("INSERT INTO odd VALUES ('x', 'word')")
        try db.execute(#"CREATE VIRTUAL TABLE ft USING fts4("text", content="odd")"#)
        try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS4()) { t in
            t.synchronize(withTable: "odd")
            t.column("text")
        }
        try db.run("INSERT INTO odd VALUES ('y', 'other')")
        #expect(try found("other") == [2])
    }

    @Test func `H-SCH-12 no index follows rows that VACUUM gives other numbers`() throws {
        try db.execute(
            """
            CREATE TABLE bare (text TEXT); CREATE TABLE keyed (name TEXT PRIMARY KEY, text TEXT);
            CREATE TABLE falling (id INTEGER PRIMARY KEY DESC, text TEXT); CREATE TABLE typed (id INT PRIMARY KEY, text TEXT);
            """)
        let before = try db.schema.objectDefinitions().count
        func synchronize(_ table: String, isFTS5: Bool) throws {
            if isFTS5 {
                try db.create(virtualTable: "ft", using: FTS5()) { t in
                    t.synchronize(withTable: table)
                    t.column("text")
                }
            } else {
                try db.create(virtualTable: "ft", using: FTS4()) { t in
                    t.synchronize(withTable: table)
                    t.column("text")
                }
            }
        }
        for table in ["bare", "keyed", "falling", "typed"] {
            for isFTS5 in hasFTS5 ? [false, true] : [false] {
                let error = #expect(throws: VaultError.self) { try synchronize(table, isFTS5: isFTS5) }
                #expect(error?.code == .cannotSynchronize && error?.message.contains("INTEGER PRIMARY KEY") == true)
                #expect(try db.schema.objectDefinitions().count == before)
            }
        }
        // Nor does a table with an index lose its numbers.
        try db.create(virtualTable: "ft", using: FTS4()) { t in
            t.synchronize(withTable: "document")
            t.column("title")
        }
        let error = #expect(throws: VaultError.self) {
            try db.recreate(table: "document") { t in
                t.column("id", .integer)
                t.column("title", .text)
            }
        }
        #expect(error?.code == .schemaChangeRefused)
        try db.run("INSERT INTO document VALUES (9, 'last', NULL)")
        try db.run("DELETE FROM document WHERE id = 5")
        try db.vacuum()
        #expect(try found("last") == [9])
    }

    @Test func `H-SCH-13 neither a column nor a table that an index follows is renamed`() throws {
        try db.create(virtualTable: "ft", using: FTS4()) { t in
            t.synchronize(withTable: "document")
            t.column("title")
        }
        let column = #expect(throws: VaultError.self) {
            try db.alter(table: "document") { t in t.rename(column: "title", to: "name") }
        }
        #expect(column?.code == .schemaChangeRefused)
        let table = #expect(throws: VaultError.self) { try db.rename(table: "document", to: "paper") }
        #expect(table?.code == .schemaChangeRefused && table?.message.contains("ft") == true)
        try db.alter(table: "document") { t in
            t.rename(column: "my text", to: "body")
            t.rename(column: "title", to: "Title")
        }
        try db.run("INSERT INTO document (title, body) VALUES ('second', 'more')")
        #expect(try found("first") == [5] && found("second") == [6])
        try db.run(VirtualTable("ft").rebuild())
        #expect(try found("first") == [5] && found("second") == [6])
    }

    @Test func `an index has the texts of a table that the application keeps in step, or none`() throws {
        try db.create(virtualTable: "ft", using: FTS4()) { t in
            t.column("title")
            t.content = "document"
        }
        #expect(try db.sql("ft") == #"CREATE VIRTUAL TABLE "ft" USING fts4("title", content="document")"#)
        try db.run("INSERT INTO ft(ft) VALUES('rebuild')")
        #expect(try found("first") == [5])
        try db.create(virtualTable: "bare", using: FTS4()) { t in
            t.column("a")
            t.content = ""
        }
        try db.run("INSERT INTO bare (docid, a) VALUES (7, 'word')")
        #expect(try found("word", in: "bare") == [7])
    }

    @Test func `a table that an index cannot follow is rejected, and nothing is created`() throws {
        try db.create(table: "numberless", options: .withoutRowID) { t in t.primaryKey("key", .text) }
        #expect {
            try db.create(virtualTable: "ft", using: FTS4()) { t in t.synchronize(withTable: "numberless") }
        } throws: { ($0 as? VaultError)?.code == .cannotSynchronize }
        #expect(throws: QueryError.noSuchTable(name: "absent")) {
            try db.create(virtualTable: "ft", using: FTS4()) { t in t.synchronize(withTable: "absent") }
        }
        #expect {
            try db.create(virtualTable: "ft", options: .temporary, using: FTS4()) { t in
                t.synchronize(withTable: "document")
            }
        } throws: { ($0 as? VaultError)?.code == .cannotSynchronize }
        #expect(throws: DatabaseError.self) {
            try db.create(virtualTable: "ft", using: FTS4()) { t in
                t.synchronize(withTable: "document")
                t.column("no such column")
            }
        }
        #expect(try db.schema.objectDefinitions().allSatisfy { !$0.name.contains("ft") })
    }

    @Test func `a table of a custom module is created and rolled back as one`() throws {
        struct Failing: VirtualTableModule {
            let moduleName = "rtree"
            func makeTableDefinition(configuration: VirtualTable.Configuration) -> [String] { ["id", "a", "b"] }
            func moduleArguments(for definition: [String], in connection: Connection) throws -> [String] { definition }
            func database(_ db: Connection, didCreate name: String, using definition: [String]) throws {
                #expect(try db.columns(name).count == 3)
                throw QueryError.noSuchTable(name: "x")
            }
        }
        #expect(throws: QueryError.self) { try db.create(virtualTable: "area", using: Failing()) }
        #expect(try db.sql("area") == nil)
    }

    @Test(
        .enabled(if: hasFTS5, "the engine was built without FTS5"),
        arguments: [
            Tokenizer.porter(wrapping: .unicode61()), .porter(wrapping: .ascii()), .porter(wrapping: .porter),
            .ascii(separators: ["x"], tokenCharacters: ["-", "1"]), .ascii(tokenCharacters: ["+", "1"]),
            .unicode61(separators: ["-", "1"], tokenCharacters: ["+", "2"]),
            .unicode61(tokenCharacters: ["'", "\""]),
            .porter(wrapping: .unicode61(tokenCharacters: ["'", "\""])), .unicode61(separators: ["1"]),
            .unicode61(tokenCharacters: ["é", "\u{1F5C4}"]),
            .unicode61(separators: ["+"], tokenCharacters: ["-", "1"]),
            .custom("porter"), .custom("unicode61"), .ascii(), .porter(),
        ])
    func `H-SCH-02 every tokenizer makes an FTS5 table`(tokenizer: Tokenizer) throws {
        try db.create(virtualTable: "ft", using: FTS5()) { t in
            t.column("a")
            t.tokenizer = tokenizer
        }
        try db.run("INSERT INTO ft VALUES ('some words')")
        #expect(try found("some") == [1])
    }

    @Test(.enabled(if: hasFTS5, "the engine was built without FTS5"))
    func `H-SCH-02 token characters and separators are those that were named`() throws {
        try db.create(virtualTable: "ft", using: FTS5()) { t in
            t.column("a")
            t.tokenizer = .unicode61(separators: ["1"], tokenCharacters: ["-"])
        }
        try db.run("INSERT INTO ft VALUES ('a-b c1d')")
        #expect(try found("\"a-b\"") == [1] && found("b") == [] && found("c") == [1] && found("d") == [1])
    }

    @Test(arguments: [false, true])
    func `H-SCH-04 an existing index regains lost triggers and the changes it missed`(isFTS5: Bool) throws {
        guard hasFTS5 || !isFTS5 else { return }
        func create() throws {
            if isFTS5 {
                try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS5()) { t in
                    t.synchronize(withTable: "document")
                    t.column("title")
                }
            } else {
                try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS4()) { t in
                    t.synchronize(withTable: "document")
                    t.column("title")
                }
            }
        }
        func triggers() throws -> [ObjectDefinition] { try db.schema.objectDefinitions(type: .trigger) }
        try create()
        let made = try triggers()
        try db.run("DROP TRIGGER __ft_ai")
        try db.run("INSERT INTO document VALUES (6, 'unseen', '')")
        #expect(try found("unseen") == [])
        try create()
        #expect(try Set(triggers().map(\.name)) == Set(made.map(\.name)) && found("unseen") == [6])
        try db.run("INSERT INTO document VALUES (7, 'seen', '')")
        #expect(try found("seen") == [7])
        let changes = db.totalChangedRowCount
        try create()
        #expect(db.totalChangedRowCount == changes)
    }

    @Test func `H-SCH-04 triggers are not put on an index of other columns`() throws {
        try db.create(virtualTable: "ft", using: FTS4()) { t in t.column("other") }
        #expect {
            try db.create(virtualTable: "ft", options: .ifNotExists, using: FTS4()) { t in
                t.synchronize(withTable: "document")
                t.column("title")
            }
        } throws: { ($0 as? VaultError)?.code == .cannotSynchronize }
        #expect(try db.schema.objectDefinitions(type: .trigger).isEmpty)
    }
}
