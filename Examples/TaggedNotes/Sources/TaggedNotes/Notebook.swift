import Foundation
import LiteVault

/// Notes with tags and attachments in an encrypted database.
final class Notebook: Sendable {
    private let pool: DatabasePool

    /// Opens the notebook, creates it if it is missing, and applies the migrations that it lacks.
    init(path: String, key: DatabaseKey) throws {
        pool = try DatabasePool(path, key: key)
        var migrator = Migrator()
        migrator.registerMigrations(Schema.scripts)
        try migrator.migrate(pool)
    }

    /// Writes a note and its tags, in one transaction.
    func add(title: String, body: String, tags: [String]) async throws -> Int64 {
        try await pool.write { db in
            var note = Note(title: title, body: body)
            try note.insert(db)
            let id = try note.key
            for name in Set(tags).sorted() {
                var tag = Tag(name: name)
                try tag.upsert(db, onConflictOf: Tag.name)
                var connection = NoteTag(noteId: id, tagId: try tag.key)
                try connection.insert(db)
            }
            return id
        }
    }

    /// Changes the title. Nothing is written when it is the same.
    func rename(_ id: Int64, to title: String) async throws -> Bool {
        var note = try await Note.find(pool, id)
        return try await note.updateChanges(pool) { $0.title = title }
    }

    /// A note with its tags and attachments: three statements, however many there are.
    func note(_ id: Int64) async throws -> (Note, [Tag], [Attachment])? {
        try await Note.filter(Note.id == id)
            .including(Note.tags.order(Tag.name), Note.attachments.order(Attachment.name)).first(pool)
    }

    /// The notes with a text and a tag, newest first.
    func overview(text: String? = nil, tag: String? = nil) async throws -> [Schema.OverviewRow] {
        try await pool.overview(text: text, tag: tag)
    }

    /// Removes a note with its attachments, and the tags that no other note has.
    func remove(_ id: Int64) async throws -> Bool {
        try await pool.write { db in
            let existed = try Note.delete(db, key: id)
            _ = try db.removeUnusedTags()
            return existed
        }
    }

    /// Stores a file with a note, 64 KiB in memory at a time.
    func attach(_ file: URL, to note: Int64) async throws -> Int64 {
        try await pool.write { db in
            let input = try FileHandle(forReadingFrom: file)
            defer { try? input.close() }
            let size = Int64(try input.seekToEnd())
            try input.seek(toOffset: 0)
            var attachment = Attachment(noteId: note, name: file.lastPathComponent, size: size)
            try attachment.insert(db)
            let id = try attachment.key
            try db.reserveContent(id: id, size: size)
            let writer = try BlobWriter(db, Self.content(id))
            while let chunk = try input.read(upToCount: 1 << 16), !chunk.isEmpty { try writer.append(chunk) }
            try writer.close()
            return id
        }
    }

    /// Writes an attachment into a new file, one chunk after the other, while others use the notebook.
    func export(_ attachment: Int64, to file: URL) async throws {
        try Data().write(to: file, options: .withoutOverwriting)
        let output = try FileHandle(forWritingTo: file)
        defer { try? output.close() }
        for try await chunk in pool.chunks(of: Self.content(attachment)) { try output.write(contentsOf: chunk) }
    }

    /// The notes for a screen: there at once, and changed on the main actor after each commit that changed them.
    @MainActor
    func screen(tag: String? = nil) throws -> Observed<[Schema.OverviewRow]> {
        try Observed(pool) { try $0.overview(text: nil, tag: tag) }
    }

    func close() async throws { try await pool.close() }

    private static func content(_ id: Int64) -> BlobLocation {
        BlobLocation("attachment_content", "content", rowid: id)
    }
}

extension Record {
    /// The primary key of a record that was inserted.
    fileprivate var key: PrimaryKey {
        get throws {
            guard let primaryKey else { throw VaultError(.noKey, "The record was not inserted") }
            return primaryKey
        }
    }
}
