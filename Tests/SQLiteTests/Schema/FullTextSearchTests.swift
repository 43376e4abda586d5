import LiteVaultOperators
import LiteVaultQuery
import SQLite
import Testing

private let subject = SQLExpression<String>("subject")
private let body = SQLExpression<String>("body")
private let emails = VirtualTable("emails")

/// Whether the linked engine has a module: tested by using it, as compile options do not list extensions.
private func hasModule(_ name: String) -> Bool {
    (try? Connection().run("CREATE VIRTUAL TABLE t USING \(name)(a, b, c)")) != nil
}

private func fill(_ db: Connection) throws {
    try db.run(
        emails.insertMany([
            [subject <- "Just Checking In", body <- "Hey, I was just wondering...did you get my last email?"],
            [subject <- "Re: wonders", body <- "No. The wonderful wonder of mail: a wonder."],
            [subject <- "Lunch", body <- "Café at noon"],
        ]))
}

private func subjects(_ db: Connection, _ query: any QueryType) throws -> [String] {
    try db.prepareRowIterator(query).map { try $0.get(subject) }
}

@Suite(.enabled(if: hasModule("fts4"), "the linked engine has no FTS4"))
struct `FTS4, run` {
    let db: Connection

    init() throws { db = try Connection() }

    @Test func `a search finds words, beginnings and single columns`() throws {
        try db.run(emails.create(.FTS4(subject, body)))
        try fill(db)
        #expect(try subjects(db, emails.match("wonder*")) == ["Just Checking In", "Re: wonders"])
        #expect(try subjects(db, emails.filter(subject.match("Re:*"))) == ["Re: wonders"])
        let aliased = emails.alias("e")
        #expect(try subjects(db, aliased.filter(aliased.match("lunch"))) == ["Lunch"])
        let found: ScalarQuery<String?> = emails.select(emails.fts4Snippet("<", ">", words: 3)).filter(
            emails.match("noon"))
        #expect(try db.scalar(found) == "Café at <noon>")
        #expect(try db.scalar(emails.select(emails.fts4Offsets).filter(emails.match("lunch"))) == "0 0 0 5")
        #expect(
            try db.scalar(emails.select(emails.fts4MatchInfo("c")).filter(emails.match("lunch"))).bytes == [2, 0, 0, 0])
        try db.run(emails.optimize())
    }

    @Test func `every option is understood`() throws {
        let config = FTS4Config().column(subject).column(body, [.unindexed]).tokenizer(.Porter).prefix([2, 4])
            .languageId("lid").matchInfo(.fts3).order(.desc)
        try db.run(emails.create(.FTS4(config)))
        try fill(db)
        #expect(try subjects(db, emails.match("wonder")) == ["Re: wonders"])
        #expect(try subjects(db, emails.match("noon")) == [])
    }

    @Test(arguments: [#"."#, #"'"#, #"""#, ")", "x')--"])
    func `characters of tokenizers are quoted`(characters: String) throws {
        let tokenizer = Tokenizer.Unicode61(removeDiacritics: true, tokenchars: Set(characters))
        do {
            try db.run(emails.create(.FTS4([subject, body], tokenize: tokenizer)))
        } catch let error as Result {
            #expect(error.message.contains("unknown tokenizer: unicode61"), "FTS4 of this engine has no unicode61")
            return
        }
        try fill(db)
        #expect(try subjects(db, emails.match("cafe")) == ["Lunch"])
    }

    @Test func `an index of a table's content is rebuilt`() throws {
        let letters = Table("letters")
        try db.run(
            letters.create { t in
                t.column(subject)
                t.column(body)
            })
        try db.run(letters.insert(subject <- "Lunch", body <- "noon"))
        try db.run(emails.create(.FTS4(FTS4Config().columns([subject, body]).externalContent(letters))))
        #expect(try subjects(db, emails.match("noon")) == [])
        try db.run(emails.rebuild())
        #expect(try subjects(db, emails.match("noon")) == ["Lunch"])
    }
}

@Suite(.enabled(if: hasModule("fts5"), "the linked engine has no FTS5"))
struct `FTS5, run` {
    let db: Connection

    init() throws {
        db = try Connection()
        try db.run(emails.create(.FTS5(FTS5Config().column(subject).column(body).prefix([2]))))
        try fill(db)
    }

    @Test func `a search ranks what it finds`() throws {
        let found = emails.filter(emails.match("wonder*"))
        #expect(try subjects(db, found.order(emails.rank)) == ["Re: wonders", "Just Checking In"])
        #expect(try subjects(db, found.order(emails.bm25(1, 1).desc)) == ["Just Checking In", "Re: wonders"])
        #expect(try subjects(db, emails.filter(emails.match("subject:\"Re\"*"))) == ["Re: wonders"])
        let aliased = emails.alias("e")
        #expect(try subjects(db, aliased.filter(aliased.match("lunch")).order(aliased.rank)) == ["Lunch"])
    }

    @Test func `a search marks what it finds`() throws {
        let noon = emails.filter(emails.match("noon"))
        #expect(try db.scalar(noon.select(emails.highlight(column: 1, "<b>", "</b>"))) == "Café at <b>noon</b>")
        #expect(try db.scalar(noon.select(emails.snippet("[", "]", words: 1))) == "…[noon]")
    }

    @Test(arguments: [".", "'", "\"", ")", "x')--"])
    func `characters of tokenizers are quoted`(characters: String) throws {
        try db.run(emails.drop())
        let tokenizer = Tokenizer.Unicode61(removeDiacritics: true, tokenchars: Set(characters))
        try db.run(emails.create(.FTS5(FTS5Config().columns([subject, body]).tokenizer(tokenizer))))
        try fill(db)
        #expect(try subjects(db, emails.match("cafe")) == ["Lunch"])
    }

    @Test(.enabled(if: EngineInfo.linked.isAtLeast(3, 34), "trigram is of 3.34"))
    func `trigrams find parts of words`() throws {
        try db.run(emails.drop())
        try db.run(emails.create(.FTS5(FTS5Config().columns([subject, body]).tokenizer(.Trigram()))))
        try fill(db)
        #expect(try subjects(db, emails.match("unc")) == ["Lunch"])
    }
}

@Suite(.enabled(if: hasModule("rtree"), "the linked engine has no R*Tree"))
struct `R*Tree, run` {
    @Test func `ranges that overlap are found`() throws {
        let db = try Connection()
        let places = VirtualTable("places")
        let id = SQLExpression<Int64>("id")
        let minX = SQLExpression<Double>("minX"), maxX = SQLExpression<Double>("maxX")
        let minY = SQLExpression<Double>("minY"), maxY = SQLExpression<Double>("maxY")
        try db.run(places.create(.RTree(id, (minX, maxX), (minY, maxY))))
        try db.run(places.insert(id <- 1, minX <- 0, maxX <- 1, minY <- 0, maxY <- 1))
        try db.run(places.insert(id <- 2, minX <- 5, maxX <- 6, minY <- 5, maxY <- 6))
        let found = places.filter(minX < 2 && maxX > 0.5 && minY < 2 && maxY > 0.5)
        #expect(try db.prepareRowIterator(found).map { try $0.get(id) } == [1])
        #expect(throws: Result.self) {
            try db.run(places.insert(id <- 3, minX <- 2, maxX <- 1, minY <- 0, maxY <- 1))
        }
    }
}
