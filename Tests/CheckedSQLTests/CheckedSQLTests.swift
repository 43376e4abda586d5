import Foundation
import LiteVault
import Testing

/// A type of the application, which the schema names.
enum NoteState: Int64, Value {
    case open, done
}

/// What LiteVaultSchemaPlugin makes of `queries/*.sql`: compiled with this target, and run.
struct CheckedSQLTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { database in
            for script in Schema.scripts { try database.execute(script.sql) }
        }
    }

    @Test func `a statement that inserts returns the rowid, and what is nil is NULL`() throws {
        let first = try queue.insertNote(title: "milk", body: nil, folder: nil, writtenAt: nil)
        let second = try queue.insertNote(title: "bread", body: "rye", folder: nil, writtenAt: nil)
        #expect(first == 1 && second == 2)
        #expect(try queue.body(id: first) == nil)
        #expect(try queue.body(id: second) == "rye")
    }

    @Test func `statements with the same columns return the same struct`() throws {
        try queue.insertNote(title: "milk", body: nil, folder: nil, writtenAt: nil)
        let one: Schema.NoteRow = try queue.note(1)
        let optional: Schema.NoteRow? = try queue.noteIfAny(id: 1)
        let many: [Schema.NoteRow] = try queue.notes(containing: "il")
        #expect(one.id == 1 && one.title == "milk" && one.state == .open)
        #expect(optional?.title == one.title && many.map(\.id) == [1])
    }

    @Test func `without a row :one throws and :optional is nil`() throws {
        #expect(throws: QueryError.self) { try queue.note(7) }
        #expect(try queue.noteIfAny(id: 7) == nil)
        #expect(try queue.latest() == .some(nil))
    }

    @Test func `a filter that is left out excludes nothing`() throws {
        let folder = try queue.insertFolder(name: "home", parent: nil)
        try queue.insertNote(title: "milk", body: nil, folder: folder, writtenAt: nil)
        try queue.insertNote(title: "silk", body: nil, folder: nil, writtenAt: nil)
        #expect(try queue.notes(containing: "ilk").map(\.title) == ["milk", "silk"])
        #expect(try queue.notes(containing: "ilk", folder: folder).map(\.title) == ["milk"])
    }

    @Test func `a list has any number of values, and may occur twice`() throws {
        for title in ["a", "b", "c", "d"] { try queue.insertNote(title: title, body: nil, folder: nil, writtenAt: nil) }
        #expect(try queue.titles(ids: [1, 3, 4], except: "c") == ["a", "d"])
        #expect(try queue.titles(ids: [2], except: "c") == ["b"])
        #expect(try queue.titles(ids: [], except: "c") == [])
        #expect(try queue.setState(state: .done, ids: [1, 2]) == 2)
        #expect(try queue.note(1).state == .done && queue.note(3).state == .open)
    }

    @Test func `a date comes back as it was written`() throws {
        let date = Date(timeIntervalSince1970: 1_000_000)
        let folder = try queue.insertFolder(name: "home", parent: nil)
        try queue.insertNote(title: "milk", body: nil, folder: folder, writtenAt: date)
        #expect(try queue.latest() == date)
        let rows = try queue.folderOfNotes(folder: folder)
        #expect(rows == [Schema.NoteInFolder(id: 1, folder: "home", writtenAt: date)])
    }

    @Test func `a recursive statement walks a tree`() throws {
        let root = try queue.insertFolder(name: "root", parent: nil)
        let home = try queue.insertFolder(name: "home", parent: root)
        try queue.insertFolder(name: "kitchen", parent: home)
        #expect(try queue.paths(below: root) == ["root", "root/home", "root/home/kitchen"])
    }

    @Test func `more parameters than twelve keep their order`() throws {
        try queue.insertWide(
            a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, j: 10, k: 11, l: 12, m: 13, n: "fourteen")
        let row = try queue.wide()
        #expect(row.a == 1 && row.k == 11 && row.l == 12 && row.m == 13 && row.n == "fourteen")
    }

    @Test func `a full-text search is a statement like others`() throws {
        try queue.indexText(id: 3, text: "milk and bread")
        #expect(try queue.search(words: "bread").map(\.id) == [3])
        #expect(try queue.search(words: "wine").isEmpty)
    }

    @Test func `functions are there on a connection and asynchronously`() async throws {
        try await queue.insertNote(title: "milk", body: nil, folder: nil, writtenAt: nil)
        #expect(try await queue.note(1).title == "milk")
        try await queue.deleteNote(id: 1)
        #expect(try await queue.read { try $0.noteIfAny(id: 1) } == nil)
    }
}
