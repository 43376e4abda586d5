import Foundation
import LiteVault
import Testing

@Suite struct WritingTests {
    let db: Connection

    init() throws { db = try emptyDatabase() }

    // MARK: Inserting

    @Test func `inserting gives the record its number by one statement that returns nothing`() throws {
        var city = City(name: "Bonn")
        let run = try statements(of: db) { try city.insert(db) }
        #expect(city.id == 1)
        #expect(run == [#"INSERT INTO "city" ("id", "name", "population") VALUES (NULL, 'Bonn', NULL)"#])
        #expect(try City.all(db) == [city])
    }

    @Test func `a key that is not the rowid is refused as one`() throws {
        let others = [
            "id INT PRIMARY KEY, name TEXT)", "id BIGINT PRIMARY KEY, name TEXT)", "id INTEGER PRIMARY KEY DESC, name TEXT)",
            "id INTEGER, name TEXT, PRIMARY KEY (id, name))", "id INTEGER PRIMARY KEY, name TEXT) WITHOUT ROWID",
        ]
        let keys = ["id INTEGER PRIMARY KEY, name TEXT UNIQUE)", "id INTEGER, name TEXT, PRIMARY KEY (id DESC))"]
        for columns in others + keys {
            let db = try Connection()
            try db.execute("CREATE TABLE keyed (\(columns)")
            var row = Keyed(name: "a")
            if others.contains(columns) {
                let error = #expect(throws: VaultError.self) { try row.insert(db) }
                #expect(error?.code == .conformance)
                #expect(error.map { "\($0)".contains("INTEGER PRIMARY KEY, exactly") } == true, "\(error as Any)")
                #expect(throws: VaultError.self) { try row.upsert(db) }
                #expect(try Keyed.count(db) == 0)
            } else {
                try row.insert(db)
                #expect(row.id == 1)
            }
        }
    }

    @Test func `a row that a trigger ignores gives the record no number`() throws {
        try db.execute("INSERT INTO city VALUES (7, 'Ulm', NULL); INSERT INTO log VALUES ('last rowid', 1)")
        try db.execute(
            """
            CREATE TRIGGER noBonn BEFORE INSERT ON city WHEN new.name = 'Bonn' BEGIN SELECT RAISE(IGNORE); END;
            CREATE TRIGGER noNote BEFORE INSERT ON note BEGIN SELECT RAISE(IGNORE); END
            """)
        var city = City(name: "Bonn")
        try city.insert(db)
        #expect(city.id == nil)
        var note = Note(title: "Milk")
        try note.insert(db)
        #expect(note.id == nil)
        #expect(try City.all(db).map(\.name) == ["Ulm"])
        #expect(try Note.count(db) == 0)
    }

    @Test func `another column may be called rowid`() throws {
        try db.execute("CREATE TABLE renamed (id INTEGER PRIMARY KEY, rowid INTEGER, made TEXT NOT NULL DEFAULT 'now')")
        var first = Renamed(rowid: 2)
        var second = Renamed(rowid: 1)
        try first.insert(db)
        try second.insert(db)
        #expect([first, second] == [Renamed(id: 1, rowid: 2, made: "now"), Renamed(id: 2, rowid: 1, made: "now")])
    }

    @Test func `a number that the record has already is kept`() throws {
        var city = City(id: 40, name: "Bonn", population: 1)
        try city.insert(db)
        #expect(city.id == 40)
        #expect(try City.find(db, 40) == city)
    }

    @Test func `texts of any length are written as they are`() throws {
        let lengths = [0, 1, 15, 16, 200, 255, 256, 257, 511, 512, 513, 100_000]
        for length in lengths {
            for other in lengths {
                let account = Account(
                    name: String(repeating: "é\0", count: length / 3) + "0123456789".prefix(length % 3))
                account.opened = String(repeating: "b", count: other)
                try account.insert(db)
                let read = try Account.find(db, try #require(account.id))
                #expect(read.name.utf8.elementsEqual(account.name.utf8))
                #expect(read.opened == account.opened)
                account.name += account.name
                try account.update(db)
                #expect(try Account.find(db, try #require(account.id)).name == account.name)
            }
        }
    }

    @Test func `what an SQL function does to the object that is being inserted changes nothing in the row`() throws {
        let name = String(repeating: "before ", count: 20)
        let account = Account(name: name)
        account.opened = "today, long ago"
        try db.defineFunction("rename", argumentCount: 0) { _ in
            account.name = String(repeating: "after ", count: 30)
            return nil
        }
        try db.execute("CREATE TRIGGER renaming BEFORE INSERT ON account BEGIN SELECT rename(); END")
        try account.insert(db)
        #expect(try Account.query.one(db).name == name)
        #expect(account.name.hasPrefix("after"))
    }

    @Test func `defaults of nil columns and generated columns come back`() throws {
        var note = Note(title: "Milk", tags: ["a", "b"])
        try note.insert(db)
        #expect(note == Note(id: 1, title: "Milk", tags: ["a", "b"], created: "today", titleLength: 4))
        #expect(try Note.find(db, 1) == note)
        var dated = Note(title: "Eggs!", created: "tomorrow")
        try dated.insert(db)
        #expect(dated.created == "tomorrow")
        #expect(dated.titleLength == 5)
    }

    @Test func `values come back by RETURNING where the engine has it`() throws {
        var token = Token(kind: .access)
        let run = try statements(of: db) { try token.insert(db) }
        if EngineInfo.linked.isAtLeast(3, 35) {
            #expect(run == [#"INSERT INTO "token" ("kind") VALUES ('access') RETURNING "code", "kind", "uses""#])
        } else {
            #expect(run.filter { $0.hasPrefix("INSERT") } == [#"INSERT INTO "token" ("kind") VALUES ('access')"#])
            #expect(run.contains { $0.hasPrefix("SELECT") })
        }
        #expect(token.code?.count == 16)
        #expect(token.uses == 7)
        #expect(try Token.find(db, token.code ?? "") == token)
        #expect(!db.isInTransaction)
    }

    @Test func `a record whose defaults are all given needs no second look`() throws {
        var token = Token(code: "x", kind: .refresh, uses: 1)
        let run = try statements(of: db) { try token.insert(db) }
        #expect(run == [#"INSERT INTO "token" ("code", "kind", "uses") VALUES ('x', 'refresh', 1)"#])
    }

    @Test func `a record without a key is inserted, counted, and deleted by name`() throws {
        for level in 1...3 {
            var line = LogLine(text: "line", level: level)
            try line.insert(db)
        }
        #expect(try LogLine.count(db) == 3)
        #expect(try LogLine.filter(LogLine.level > 1).order(LogLine.level).all(db).map(\.level) == [2, 3])
        #expect(try LogLine.filter(LogLine.level > 1).deleteAll(db) == 2)
        #expect(try LogLine.deleteAll(db) == 1)
    }

    @Test func `a violated constraint is the engine's error, and the record is as it was`() throws {
        var first = Note(title: "Milk")
        try first.insert(db)
        var second = Note(title: "Milk")
        #expect {
            try second.insert(db)
        } throws: { ($0 as? DatabaseError)?.resultCode == .constraintUnique }
        #expect(second == Note(title: "Milk"))
    }

    // MARK: Updating

    @Test func `updating writes all columns but the key`() throws {
        var city = City(name: "Bonn", population: 1)
        try city.insert(db)
        city.name = "Berlin"
        city.population = nil
        let run = try statements(of: db) { try city.update(db) }
        #expect(run == [#"UPDATE "city" SET "name" = 'Berlin', "population" = NULL WHERE "id" = 1"#])
        #expect(try City.find(db, 1) == city)
    }

    @Test func `updating reads what the engine computes`() throws {
        var note = Note(title: "Milk")
        try note.insert(db)
        note.title = "Butter"
        try note.update(db)
        #expect(note.titleLength == 6)
    }

    @Test func `updating a row that is not there is an error that says so`() throws {
        var city = City(id: 9, name: "Nowhere")
        #expect { try city.update(db) } throws: { ($0 as? VaultError)?.code == .notFound }
        var note = Note(id: 9, title: "Nowhere")
        #expect { try note.update(db) } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect { try note.refresh(db) } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect { try note.updateChanges(db) { $0.title = "x" } } throws: { ($0 as? VaultError)?.code == .notFound }
        #expect(note.title == "Nowhere")
        #expect(try note.delete(db) == false)
    }

    @Test func `an update of a view is written by its triggers, and one that a trigger ignores is an error`() throws {
        let viewed = try Connection()
        try viewed.execute(
            """
            CREATE TABLE place (id INTEGER PRIMARY KEY, name TEXT NOT NULL, population INTEGER);
            INSERT INTO place VALUES (1, 'Bonn', 330);
            CREATE VIEW city AS SELECT * FROM place;
            CREATE TRIGGER renaming INSTEAD OF UPDATE ON city BEGIN
                UPDATE place SET name = new.name, population = new.population WHERE id = old.id;
            END
            """)
        var city = try City.find(viewed, 1)
        city.name = "Ulm"
        try city.update(viewed)
        #expect(try City.find(viewed, 1).name == "Ulm")
        #expect(try city.updateChanges(viewed) { $0.population = 126 })
        city.name = "Jena"
        try city.save(viewed)
        #expect(try City.all(viewed) == [City(id: 1, name: "Jena", population: 126)])
        var missing = City(id: 9, name: "Nowhere")
        #expect { try missing.update(viewed) } throws: { ($0 as? VaultError)?.code == .notFound }

        try db.execute("CREATE TRIGGER keeping BEFORE UPDATE ON city BEGIN SELECT RAISE(IGNORE); END")
        var kept = City(name: "Bonn")
        try kept.insert(db)
        #expect { try kept.updateChanges(db) { $0.name = "Ulm" } } throws: { ($0 as? VaultError)?.code == .ignored }
        #expect(kept.name == "Bonn")
        kept.name = "Ulm"
        #expect { try kept.update(db) } throws: { ($0 as? VaultError)?.code == .ignored }
        #expect(try City.find(db, 1).name == "Bonn")
    }

    @Test func `a record that was never inserted cannot be updated, refreshed or deleted`() throws {
        var city = City(name: "Bonn")
        #expect { try city.update(db) } throws: { ($0 as? VaultError)?.code == .noKey }
        #expect { try city.refresh(db) } throws: { ($0 as? VaultError)?.code == .noKey }
        #expect { try city.delete(db) } throws: { ($0 as? VaultError)?.code == .noKey }
        #expect { try city.updateChanges(db) { $0.name = "x" } } throws: { ($0 as? VaultError)?.code == .noKey }
        #expect(try city.exists(db) == false)
    }

    @Test func `changes write the columns that have changed, and nothing when none has`() throws {
        var city = City(name: "Bonn", population: 1)
        try city.insert(db)
        let first = try statements(of: db) {
            let isWritten = try city.updateChanges(db) { $0.population = 2 }
            #expect(isWritten)
        }
        #expect(first.last == #"UPDATE "city" SET "population" = 2 WHERE "id" = 1"#)
        #expect(try City.find(db, 1) == City(id: 1, name: "Bonn", population: 2))
        let second = try statements(of: db) {
            let isWritten = try city.updateChanges(db) { $0.name = "Bonn" }
            #expect(!isWritten)
        }
        #expect(!second.contains { $0.hasPrefix("UPDATE") })
        try city.updateChanges(db) { $0.population = nil }
        #expect(try City.find(db, 1).population == nil)
    }

    @Test func `H-TXT-15: a change between texts that are canonically equal is written`() throws {
        var city = City(name: "caf\u{e9}")
        try city.insert(db)
        let isWritten = try city.updateChanges(db) { $0.name = "cafe\u{301}" }
        #expect(isWritten)
        #expect(try db.value("SELECT hex(name) FROM city", as: String.self) == "63616665CC81")
    }

    @Test func `a changed key moves the row`() throws {
        var member = Membership(team: 1, player: "Ada", role: "captain")
        try member.insert(db)
        #expect(try member.updateChanges(db) { $0.team = 2 })
        #expect(try Membership.all(db) == [Membership(team: 2, player: "Ada", role: "captain")])
    }

    @Test func `changes of a JSON column are seen, and generated columns come back`() throws {
        var note = Note(title: "Milk", tags: ["a"])
        try note.insert(db)
        #expect(try !note.updateChanges(db) { $0.tags = ["a"] })
        #expect(try note.updateChanges(db) { $0.tags.append("b") })
        #expect(try note.updateChanges(db) { $0.title = "Butter" })
        #expect(note == Note(id: 1, title: "Butter", tags: ["a", "b"], created: "today", titleLength: 6, version: 2))
        #expect(try Note.find(db, 1) == note)
    }

    @Test func `an error of the closure leaves record and row as they were`() throws {
        struct Refused: Error {}
        var city = City(name: "Bonn")
        try city.insert(db)
        #expect(throws: Refused.self) {
            try city.updateChanges(db) {
                $0.name = "Berlin"
                throw Refused()
            }
        }
        #expect(city.name == "Bonn")
        #expect(try City.find(db, 1).name == "Bonn")
    }

    // MARK: Optimistic locking

    @Test func `each write counts the version up, and one with an old version is refused`() throws {
        var note = Note(title: "Milk")
        try note.insert(db)
        var other = try Note.find(db, 1)
        note.body = "two litres"
        try note.update(db)
        #expect(note.version == 1)
        #expect(try Note.find(db, 1) == note)

        other.body = "none"
        #expect { try other.update(db) } throws: { ($0 as? VaultError)?.code == .staleVersion }
        #expect { try other.updateChanges(db) { $0.body = "three" } } throws: {
            ($0 as? VaultError)?.code == .staleVersion
        }
        #expect { try other.delete(db) } throws: { ($0 as? VaultError)?.code == .staleVersion }
        #expect(try Note.find(db, 1) == note)

        try other.refresh(db)
        #expect(try other.updateChanges(db) { $0.body = "three" })
        #expect(other.version == 2)
        #expect(try other.delete(db))
        #expect { try note.update(db) } throws: { ($0 as? VaultError)?.code == .notFound }
    }

    // MARK: Saving and upserting

    @Test func `saving inserts what is new and updates what is there`() throws {
        var city = City(name: "Bonn")
        try city.save(db)
        #expect(city.id == 1)
        city.population = 3
        try city.save(db)
        var given = City(id: 7, name: "Ulm")
        try given.save(db)
        #expect(try City.all(db) == [city, given])
    }

    @Test func `upserting by the key inserts or updates`() throws {
        var member = Membership(team: 1, player: "Ada")
        try member.upsert(db)
        member.role = "captain"
        try member.upsert(db)
        #expect(try Membership.all(db) == [member])
        var city = City(name: "Bonn")
        try city.upsert(db)
        #expect(city.id == 1)
    }

    @Test func `upserting by another unique column keeps the row's key, and the record gets it`() throws {
        var note = Note(title: "Milk", body: "one")
        try note.insert(db)
        var same = Note(title: "Milk", body: "two", tags: ["x"], created: "later")
        try same.upsert(db, onConflictOf: Note.title)
        #expect(
            same == Note(id: 1, title: "Milk", body: "two", tags: ["x"], created: "later", titleLength: 4, version: 1))
        #expect(try Note.all(db) == [same])
        var defaulted = Note(title: "Milk", body: "three")
        try defaulted.upsert(db, onConflictOf: Note.title)
        #expect(defaulted.created == "later")
        var new = Note(title: "Eggs")
        try new.upsert(db, onConflictOf: Note.title)
        #expect(new.id == 2)
        #expect(new.created == "today")
    }

    @Test func `an upsert refuses what is not a column`() throws {
        var note = Note(title: "Milk")
        #expect {
            try note.upsert(db, onConflictOf: SQLExpression<Int>("nothing"))
        } throws: { ($0 as? VaultError)?.code == .conformance }
    }

    // MARK: Deleting

    @Test func `deleting reports whether there was a row`() throws {
        var city = City(name: "Bonn")
        try city.insert(db)
        #expect(try city.exists(db))
        #expect(try city.delete(db))
        #expect(try !city.delete(db))
        #expect(try !city.exists(db))
        try city.insert(db)
        #expect(try City.delete(db, key: 1))
        #expect(try !City.delete(db, key: 1))
        let member = Membership.PrimaryKey(team: 1, player: "Ada")
        #expect(try !Membership.delete(db, key: member))
    }

    @Test func `whole tables change only by name, also through limits`() throws {
        for name in ["a", "b", "c", "d"] {
            var city = City(name: name, population: 1)
            try city.insert(db)
        }
        #expect(try City.updateAll(db, City.population <- 5) == 4)
        #expect(try City.order(City.name.desc).limit(2).updateAll(db, City.population <- nil) == 2)
        #expect(try City.filter(City.population == nil).order(City.name).all(db).map(\.name) == ["c", "d"])
        #expect(try City.order(City.name).limit(1).deleteAll(db) == 1)
        #expect(try City.filter(City.name == "d").deleteAll(db) == 1)
        #expect(try City.order(City.name).all(db).map(\.name) == ["b", "c"])
        for player in ["x", "y", "z"] {
            var member = Membership(team: 1, player: player)
            try member.insert(db)
        }
        #expect(try Membership.limit(2).deleteAll(db) == 2)
        #expect(try Membership.count(db) == 1)
    }

    @Test func `H-SCH-22 of a compound query, the records that it has are written`() throws {
        for name in ["a", "b", "c", "d"] {
            var city = City(name: name)
            try city.insert(db)
            var line = LogLine(text: name, level: 1)
            try line.insert(db)
        }
        let ends = City.filter(City.name == "a").union(City.filter(City.name == "d"))
        #expect(try ends.updateAll(db, City.population <- 5) == 2)
        #expect(try City.query.except(City.filter(City.population == 5)).deleteAll(db) == 2)
        #expect(try City.order(City.name).all(db).map(\.name) == ["a", "d"])
        #expect {
            try LogLine.query.except(LogLine.filter(LogLine.level > 1)).deleteAll(db)
        } throws: { ($0 as? VaultError)?.code == .unsupported }
        #expect(try LogLine.count(db) == 4, "without a key, a record does not say which row it is")
    }

    // MARK: Callbacks

    @Test func `callbacks may refuse, change and follow a write`() throws {
        var bad = Entry(amount: -1)
        #expect(throws: Entry.Negative.self) { try bad.insert(db) }
        #expect(try Entry.count(db) == 0)
        var entry = Entry(amount: 5)
        try entry.insert(db)
        entry.amount = 6
        try entry.update(db)
        #expect(try Entry.find(db, 1).edits == 1)
        #expect(try entry.updateChanges(db) { $0.amount = 7 })
        #expect(try Entry.find(db, 1).edits == 2)
        try entry.delete(db)
        #expect(try LogLine.all(db).map(\.text) == ["insert", "update", "update", "delete"])
    }

    // MARK: Objects

    @Test func `an object gets what comes back, through a constant`() throws {
        let account = Account(name: "Ada")
        try account.insert(db)
        #expect(account.id == 1)
        #expect(account.opened == "now")
        #expect(try account.updateChanges(db) { $0.name = "Grace" })
        account.opened = "then"
        try account.save(db)
        try db.run("UPDATE account SET name = 'Barbara'")
        try account.refresh(db)
        #expect(account.name == "Barbara")
        try account.upsert(db)
        try account.update(db)
        #expect(try Account.find(db, 1).opened == "then")
        #expect(try account.delete(db))
    }
}
