import Foundation
import LiteVaultCore
import Testing

@Suite struct DateStorageTests {
    private let date = Date(timeIntervalSince1970: 1_795_251_187.25)
    private let whole = Date(timeIntervalSince1970: 1_795_251_187)

    @Test(arguments: [
        (DateStorage.text, "text 2026-11-21 08:53:07.250", "text 2026-11-21 08:53:07"),
        (.textWithMilliseconds, "text 2026-11-21 08:53:07.250", "text 2026-11-21 08:53:07.000"),
        (.textWithT, "text 2026-11-21T08:53:07.250", "text 2026-11-21T08:53:07.000"),
        (.secondsSince1970, "real 1795251187.25", "integer 1795251187"),
        (.millisecondsSince1970, "integer 1795251187250", "integer 1795251187000"),
        (.julianDay, "real 2461365.87022280", "real 2461365.87021991"),
    ])
    func `a connection binds dates in its form`(form: DateStorage, text: String, wholeText: String) throws {
        let db = try Connection()
        db.dateStorage = form
        #expect(db.dateStorage == form)
        let sql: SQL = """
            SELECT typeof(?1) || ' ' || CASE WHEN typeof(?1) = 'real' AND ?1 < 1e7 THEN printf('%.8f', ?1) ELSE ?1 END
            """
        #expect(try db.value(sql, with: date, as: String.self) == text)
        #expect(try db.value(sql, with: whole, as: String.self) == wholeText)
        #expect(try db.value("SELECT ?", with: date, as: Date.self) == date)
        #expect(try Connection().value("SELECT ?", with: whole, as: String.self) == "2026-11-21 08:53:07")
    }

    @Test func `SQLite's own functions agree with each form that is theirs`() throws {
        let db = try Connection()
        // SQLite 3.15 reads no seconds of other centuries, and rounds Julian days otherwise.
        let isOld = try db.value("SELECT sqlite_version() LIKE '3.15.%'", as: Bool.self)
        for seconds in isOld ? [0] : [0, 1_795_251_187, -62_167_219_200, 253_402_300_799] {
            let date = Date(timeIntervalSince1970: Double(seconds))
            db.dateStorage = .text
            #expect(try db.value("SELECT datetime(\(seconds), 'unixepoch') IS \(date)", as: Bool.self))
            db.dateStorage = .secondsSince1970
            #expect(try db.value("SELECT \(seconds) IS \(date)", as: Bool.self))
            db.dateStorage = .julianDay
            #expect(try db.value("SELECT julianday(\(seconds), 'unixepoch') IS \(date)", as: Bool.self))
        }
    }

    @Test func `H-SCH-06: a date is compared with what CURRENT_TIMESTAMP and datetime() stored on the same day`() throws
    {
        let db = try Connection()
        try db.execute(
            """
            CREATE TABLE note (id INTEGER PRIMARY KEY, created DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP);
            INSERT INTO note (id) VALUES (1);
            """)
        let now = Date()
        func count(_ condition: String, _ date: Date) throws -> Int {
            try db.value("SELECT count(*) FROM note WHERE created \(sql: condition) ?", with: date)
        }
        #expect(try count(">", now - 60) == 1)
        #expect(try count("<", now + 60) == 1)
        #expect(try count("<", now - 60) == 0)
        let stored = try db.value("SELECT created FROM note", as: Date.self)
        #expect(try count("=", stored) == 1)
        try db.run("INSERT INTO note VALUES (2, ?)", with: stored + 0.5)
        try db.run("INSERT INTO note VALUES (3, ?)", with: stored + 1)
        try db.run("INSERT INTO note VALUES (4, ?)", with: stored - 0.001)
        #expect(try db.all("SELECT id FROM note ORDER BY created", as: Int.self) == [4, 1, 2, 3])
    }

    @Test(arguments: DateStorage.allCases)
    func `a date of any form is read on a connection of any form that can tell it`(stored: DateStorage) throws {
        let db = try Connection()
        for form in DateStorage.allCases {
            db.dateStorage = stored
            try db.execute("DROP TABLE IF EXISTS t; CREATE TABLE t (d)")
            try db.run("INSERT INTO t VALUES (?)", with: whole)
            db.dateStorage = form
            // A number is of the connection's form, if that is one.
            let isNumber = [DateStorage.secondsSince1970, .millisecondsSince1970, .julianDay].contains(stored)
            let isOther = [DateStorage.secondsSince1970, .millisecondsSince1970, .julianDay].contains(form)
            guard !isNumber || !isOther || form == stored else { continue }
            #expect(try db.value("SELECT d FROM t", as: Date.self) == whole, "\(stored) as \(form)")
        }
    }

    @Test func `a number in a column of type TEXT is read as a date where dates are numbers`() throws {
        let db = try Connection()
        db.dateStorage = .secondsSince1970
        try db.execute("CREATE TABLE t (d TEXT)")
        try db.run("INSERT INTO t VALUES (?)", with: whole)
        #expect(try db.value("SELECT d FROM t", as: Date.self) == whole)
        db.dateStorage = .text
        #expect(throws: QueryError.self) { try db.value("SELECT d FROM t", as: Date.self) }
    }

    @Test func `a new connection does not inherit the form of a closed one`() throws {
        for _ in 0..<50 {
            let db = try Connection()
            #expect(db.dateStorage == .text)
            db.dateStorage = .julianDay
            try db.close()
        }
    }

    @Test(arguments: [1e13, -1e13, .infinity, .nan])
    func `a date that cannot be stored is an error that says so`(seconds: Double) throws {
        let db = try Connection()
        for form in DateStorage.allCases {
            db.dateStorage = form
            let error = #expect(throws: DatabaseError.self) {
                try db.run("SELECT ?", with: Date(timeIntervalSince1970: seconds))
            }
            #expect(error?.resultCode == .mismatch)
            #expect(error?.message.contains("0000 to 9999") == true)
        }
    }

    /// Each form rounds where the last instant of the year 9999 is: what is written in one can be read.
    @Test(arguments: [
        253_402_300_799.999, 253_402_300_799.9993, 253_402_300_799.9996, 253_402_300_799.99997, -62_167_219_200,
        -62_167_219_200.0002,
    ])
    func `a date near the first and the last one is read, or it is an error to write it`(seconds: Double) throws {
        let db = try Connection()
        let date = Date(timeIntervalSince1970: seconds)
        for form in DateStorage.allCases {
            db.dateStorage = form
            guard (try? db.run("SELECT ?", with: date)) != nil else { continue }
            #expect(abs(try db.value("SELECT ?", with: date, as: Date.self).timeIntervalSince(date)) < 0.001, "\(form)")
        }
    }

    @Test func `the error for a date that cannot be stored names the parameter`() throws {
        let db = try Connection()
        let (fine, wrong) = (Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: .nan))
        let first = #expect(throws: DatabaseError.self) { try db.run("SELECT ?, ?, ?", with: fine, wrong, fine) }
        #expect(first?.message.contains("the value of parameter 2 cannot be stored") == true, "\(first as Any)")
        let bindings = Bindings([":until": wrong, ":since": fine])
        let second = #expect(throws: DatabaseError.self) { try db.run("SELECT :since, :until", with: bindings) }
        #expect(second?.message.contains("parameter 2 (:until)") == true, "\(second as Any)")
        let third = #expect(throws: DatabaseError.self) {
            try db.prepare("SELECT ?, ?").setBindings([fine, wrong] as [(any Binding)?])
        }
        #expect(
            third?.message.contains("parameter 2 cannot") == true && third?.resultCode == .mismatch, "\(third as Any)")
    }

    @Test func `text as SQLite.swift writes it is read as the date that SQLite.swift reads`() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<20_000 {
            let milliseconds = Int64.random(in: 1_600_000_000_000...1_900_000_000_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            let text = DateText.string(from: date, as: .textWithT)
            #expect(text.flatMap { DateText.date(from: $0) } == date, "\(milliseconds)")
        }
    }
}

@Suite struct DateFormsTests {
    private let db: Connection

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE "the notes" (id INTEGER PRIMARY KEY, "on" DATETIME);
            INSERT INTO "the notes" ("on") VALUES ('2026-11-26 10:00:00'), ('2026-11-26 10:00:00.250'),
                ('2026-11-26 10:00:00.000'), ('2026-11-26T10:00:00.000'), (1795687200), (1795687200000), (2461370.91666667),
                ('2026-11-26'), ('2026-11-26T10:00:00Z'), (NULL);
            """)
    }

    @Test func `the forms of the dates in a column are counted`() throws {
        let forms = try DateColumn("on", of: "the notes", in: db).forms()
        #expect(
            forms.counts == [
                .text: 2, .textWithMilliseconds: 1, .textWithT: 1, .secondsSince1970: 1, .millisecondsSince1970: 1,
                .julianDay: 1,
            ])
        #expect((forms.otherTexts, forms.otherValues, forms.nulls) == (2, 0, 1))
        #expect(forms.storage == nil)
        #expect(!forms.isEmpty)
    }

    @Test(arguments: DateStorage.allCases)
    func `the dates of a column get one form, and stay the same dates`(form: DateStorage) throws {
        let before = try db.all("SELECT \"on\" FROM \"the notes\" ORDER BY id", as: Date?.self)
        let changes = try DateColumn("on", of: "the notes", in: db).unify(as: form)
        #expect((6...9).contains(changes))
        #expect(try DateColumn("on", of: "the notes", in: db).forms().storage == form)
        #expect(try DateColumn("on", of: "the notes", in: db).unify(as: form) == 0)
        db.dateStorage = form
        let after = try db.all("SELECT \"on\" FROM \"the notes\" ORDER BY id", as: Date?.self)
        for (old, new) in zip(before, after) {
            #expect(abs((old ?? .distantPast).timeIntervalSince(new ?? .distantPast)) < 0.0006)
        }
        #expect(before.count == after.count)
    }

    @Test func `a value that is not a date stops the rewriting, and nothing is changed`() throws {
        try db.execute("INSERT INTO \"the notes\" (\"on\") VALUES ('soon')")
        #expect(try DateColumn("on", of: "the notes", in: db).forms().otherValues == 1)
        let before = try db.all("SELECT \"on\" FROM \"the notes\"", as: StoredValue.self)
        #expect(throws: QueryError.malformedValue(name: "on", expected: "date")) {
            try DateColumn("on", of: "the notes", in: db).unify(as: .text)
        }
        #expect(try db.all("SELECT \"on\" FROM \"the notes\"", as: StoredValue.self) == before)
    }

    @Test func `numbers are not written into a column that changes them into text`() throws {
        try db.execute("CREATE TABLE t (d TEXT); INSERT INTO t VALUES ('2026-11-26 10:00:00')")
        #expect(throws: QueryError.unexpectedType(name: "d", expected: "a number", found: "text")) {
            try DateColumn("d", of: "t", in: db).unify(as: .julianDay)
        }
        #expect(try db.value("SELECT d FROM t", as: String.self) == "2026-11-26 10:00:00")
    }

    @Test(arguments: [
        "2026-11-26 10:00 +02:00", "2026-11-26 10:00:00.12Z", "2026-11-26T10:00:00.25Z", "2026-11-26T10:00 +02:00",
        "2026-11-26 10:00Z",
    ])
    func `text with a zone is of no form, whatever its length is`(text: String) throws {
        #expect(DateText.date(from: text) != nil)
        #expect(DateStorage.form(of: .text(text)) == nil)
    }

    @Test func `an empty column has no form`() throws {
        try db.execute("CREATE TABLE t (d); INSERT INTO t VALUES (NULL)")
        let forms = try DateColumn("d", of: "t", in: db).forms()
        #expect(forms.isEmpty)
        #expect(forms.storage == nil)
    }
}
