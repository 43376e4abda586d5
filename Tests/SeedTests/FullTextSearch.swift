import SQLite
import Testing

@Suite struct FullTextSearchSeeds {
    let sample: Sample
    var db: Connection { sample.db }
    init() throws { sample = try Sample() }

    // seeds 000:2176 001:1302 002:730 003:1336
    @Test func `an FTS4 table is created by its columns`() throws {
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")

        let ran = try sample.ran { try db.run(emails.create(.FTS4(subject, body))) }
        expectSQL(ran[0], #"CREATE VIRTUAL TABLE "emails" USING fts4("subject", "body")"#)
    }

    // seeds 000:2187 001:1311 002:1090 003:1347
    @Test func `an FTS4 table with a tokenizer`() throws {
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")
        let ran = try sample.ran { try db.run(emails.create(.FTS4([subject, body], tokenize: .Porter))) }
        expectSQL(ran[0], #"CREATE VIRTUAL TABLE "emails" USING fts4("subject", "body", tokenize=porter)"#)
    }

    // seeds 000:2194 001:1316 002:1165 003:1354
    @Test func `an FTS4 table with a configuration`() throws {
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")
        let config = FTS4Config()
            .column(subject)
            .column(body, [.unindexed])
            .languageId("lid")
            .order(.desc)

        let ran = try sample.ran { try db.run(emails.create(.FTS4(config))) }
        expectSQL(
            ran[0],
            #"CREATE VIRTUAL TABLE "emails" USING fts4("subject", "body", notindexed="body", languageid="lid", order="desc")"#)
    }

    // seeds 000:2212 001:1330 002:1103 003:1370
    @Test func `texts are found in an FTS4 table`() throws {
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")
        try db.run(emails.create(.FTS4(subject, body)))
        try db.run(
            emails.insert(
                subject <- "Just Checking In",
                body <- "Hey, I was just wondering...did you get my last email?"
            ))

        let wonderfulEmails: QueryType = emails.match("wonder*")
        expectSQL(
            wonderfulEmails, #"SELECT * FROM "emails" WHERE "emails" MATCH 'wonder*'"#,
            really: #"SELECT * FROM "emails" WHERE ("emails" MATCH 'wonder*')"#)
        #expect(try db.pluck(wonderfulEmails)?[subject] == "Just Checking In")

        let replies = emails.filter(subject.match("Re:*"))
        expectSQL(
            replies, #"SELECT * FROM "emails" WHERE "subject" MATCH 'Re:*'"#,
            really: #"SELECT * FROM "emails" WHERE ("subject" MATCH 'Re:*')"#)
        #expect(try db.pluck(replies) == nil)
    }

    // seeds 000:2233 001:1345 002:1124 003:1387
    @Test(.enabled(if: EngineInfo.linked.hasCompileOption("ENABLE_FTS5"), "built without FTS5"))
    func `an FTS5 table is created, and texts are found by column`() throws {
        let emails = VirtualTable("emails")
        let subject = Expression<String>("subject")
        let body = Expression<String>("body")
        let config = FTS5Config()
            .column(subject)
            .column(body, [.unindexed])

        let ran = try sample.ran { try db.run(emails.create(.FTS5(config))) }
        expectSQL(ran[0], #"CREATE VIRTUAL TABLE "emails" USING fts5("subject", "body" UNINDEXED)"#)

        // Note that FTS5 uses a different syntax to select columns, so we need to rewrite
        // the last FTS4 query above as:
        let replies = emails.filter(emails.match("subject:\"Re:\"*"))
        expectSQL(
            replies, #"SELECT * FROM "emails" WHERE "emails" MATCH 'subject:"Re:"*'"#,
            really: #"SELECT * FROM "emails" WHERE ("emails" MATCH 'subject:"Re:"*')"#)
        try db.run(emails.insertMany([subject <- "Re: lunch", body <- "yes"], [subject <- "Lunch", body <- "Re: no"]))
        #expect(try db.prepareRowIterator(replies).map { $0[body] } == ["yes"])
    }
}
