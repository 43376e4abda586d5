import Foundation
import LiteVault
import Testing

/// A namespace of the application, in which a record is generated.
enum Library {}

/// What LiteVaultSchemaPlugin makes of tables that ask for a record: compiled with this target, and run.
struct GeneratedRecordTests {
    private let queue: DatabaseQueue

    init() throws {
        queue = try DatabaseQueue()
        try queue.write { database in
            for script in Schema.scripts { try database.execute(script.sql) }
        }
    }

    @Test func `defaults of the schema are those of the initializer or come back from the engine`() throws {
        var author = Author(name: "Ada", links: ["a", "b"])
        #expect(author.id == nil && author.mood == .wild && author.added == nil)
        try author.insert(queue)
        #expect(author.id == 1 && author.added != nil)
        let found = try Author.find(queue, 1)
        #expect(found == author && found.links == ["a", "b"])
    }

    @Test func `a version is checked`() throws {
        var author = Author(name: "Ada", links: [])
        try author.insert(queue)
        var stale = author
        author.name = "Grace"
        try author.update(queue)
        #expect { try stale.update(queue) } throws: { ($0 as? VaultError)?.code == .staleVersion }
    }

    @Test func `a composite key finds its row`() throws {
        try fill()
        #expect(try BookGenre.exists(queue, key: .init(bookId: 1, genre: "novel")))
        #expect(try !BookGenre.exists(queue, key: .init(bookId: 2, genre: "novel")))
    }

    @Test func `statements whose columns are those of a record return records`() throws {
        try fill()
        let volumes: [Library.Volume] = try queue.volumes(longer: 150)
        #expect(volumes.map(\.title) == ["long"])
        let author: Author? = try queue.author(named: "Ada")
        #expect(author?.id == 1)
        #expect(try queue.author(named: "Nobody") == nil)
    }

    @Test func `a record is Codable, and identifies itself`() throws {
        let volume = Library.Volume(id: 3, authorId: 1, title: "short", pages: nil)
        let decoded = try JSONDecoder().decode(Library.Volume.self, from: JSONEncoder().encode(volume))
        #expect(decoded == volume && decoded.id == 3)
        #expect(Genre(name: "novel").id == "novel")
    }

    private func fill() throws {
        try queue.write { database in
            var author = Author(name: "Ada", links: [])
            try author.insert(database)
            for (title, pages) in [("long", 200), ("short", 100)] {
                var volume = Library.Volume(authorId: 1, title: title, pages: Int64(pages))
                try volume.insert(database)
            }
            var genre = Genre(name: "novel")
            try genre.insert(database)
            var join = BookGenre(bookId: 1, genre: "novel")
            try join.insert(database)
        }
    }
}
