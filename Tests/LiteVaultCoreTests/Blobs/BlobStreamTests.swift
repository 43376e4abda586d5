import LiteVaultCore
import LiteVaultTestSupport
import Testing

@Suite struct BlobStreamTests {
    let db: Connection
    let location = BlobLocation("file", "content", rowid: 1)

    init() throws {
        db = try Connection()
        try db.execute(
            """
            CREATE TABLE file (id INTEGER PRIMARY KEY, name TEXT, content BLOB);
            CREATE INDEX file_name ON file (name);
            INSERT INTO file VALUES (1, 'a', x'000102030405060708'), (2, 'b', 'text'), (3, 'c', NULL);
            """)
    }

    @Test func `a blob is read in chunks, the last of which is shorter`() async throws {
        let reader = try BlobReader(db, location)
        #expect(reader.count == 9)
        var chunks: [[UInt8]] = []
        for try await chunk in reader.chunks(ofSize: 4) { chunks.append(chunk) }
        #expect(chunks == [[0, 1, 2, 3], [4, 5, 6, 7], [8]])
        var again: [[UInt8]] = []
        try reader.forEachChunk(ofSize: 100) { again.append($0) }
        #expect(again == [[0, 1, 2, 3, 4, 5, 6, 7, 8]])
    }

    @Test func `an empty blob has no chunks`() throws {
        try db.run("UPDATE file SET content = zeroblob(0) WHERE id = 1")
        let reader = try BlobReader(db, location)
        try reader.forEachChunk { _ in Issue.record("a chunk of nothing") }
        #expect(try reader.read(at: 0, count: 0) == [])
    }

    @Test func `bytes outside of the blob are refused`() throws {
        let reader = try BlobReader(db, location)
        #expect(try reader.read(at: 8, count: 1) == [8])
        for (offset, count) in [(8, 2), (10, 0), (-1, 1), (0, -1), (0, .max), (.max, 1), (.max, .max)] {
            #expect(code { _ = try reader.read(at: offset, count: count) } == .blobRange)
        }
    }

    @Test func `a missing table, column or row, NULL and an indexed column are errors of the engine`() {
        let wrong = [
            BlobLocation("none", "content", rowid: 1), BlobLocation("file", "none", rowid: 1),
            BlobLocation("file", "content", rowid: 9), BlobLocation("file", "content", rowid: 3),
            BlobLocation("file", "id", rowid: 1), BlobLocation("file\0", "content", rowid: 1),
            BlobLocation("file", "content", rowid: 1, schema: "other"),
        ]
        for location in wrong { #expect(throws: DatabaseError.self) { try BlobReader(db, location) } }
        #expect(throws: DatabaseError.self) { try BlobWriter(db, BlobLocation("file", "name", rowid: 1)) }
    }

    @Test func `reading throws once the row was changed or deleted`() throws {
        for change in ["UPDATE file SET content = x'0102030405' WHERE id = 1", "DELETE FROM file WHERE id = 1"] {
            let reader = try BlobReader(db, location)
            var chunks = reader.chunks(ofSize: 2).makeAsyncIterator()
            #expect(try chunks.next() != nil)
            try db.execute(change)
            #expect(code { _ = try chunks.next() } == .blobExpired)
        }
    }

    @Test func `writing throws once the row was changed, and the writer can take another row`() throws {
        let writer = try BlobWriter(db, location)
        try writer.append([1])
        try db.run("UPDATE file SET name = 'z' WHERE id = 1")
        #expect(code { try writer.append([2]) } == .blobExpired)
        try? writer.close()
        let other = try BlobWriter(db, location)
        try other.reopen(rowid: 2)
        try other.append(Array("TE".utf8))
        try other.close()
        #expect(try db.value("SELECT content FROM file WHERE id = 2", as: String.self) == "TExt")
    }

    @Test func `a reader takes another row, and throws after a row that does not exist`() throws {
        let reader = try BlobReader(db, location)
        try reader.reopen(rowid: 2)
        #expect(try reader.read(at: 0, count: reader.count) == Array("text".utf8))
        #expect(throws: DatabaseError.self) { try reader.reopen(rowid: 9) }
        #expect(throws: (any Error).self) { try reader.read(at: 0, count: 1) }
    }

    @Test func `zeros are reserved and filled in order`() throws {
        let id = try db.run("INSERT INTO file (content) VALUES (?)", with: ZeroBlob(5)).insertedRowID
        let writer = try BlobWriter(db, BlobLocation("file", "content", rowid: id))
        try writer.append([1, 2])
        try writer.append([3, 4] as ArraySlice)
        #expect(writer.position == 4)
        try writer.close()
        #expect(try db.value("SELECT hex(content) FROM file WHERE id = ?", with: id, as: String.self) == "0102030400")
        #expect(throws: DatabaseError.self) { try db.run("INSERT INTO file (content) VALUES (?)", with: ZeroBlob(-1)) }
    }

    @Test func `bytes after the end are refused, and none of them is written`() throws {
        let writer = try BlobWriter(db, location)
        try writer.append([10, 11, 12, 13, 14, 15, 16])
        #expect(code { try writer.append([17, 18, 19]) } == .blobRange)
        #expect(code { try writer.write([1], at: -1) } == .blobRange)
        #expect(writer.position == 7)
        try writer.close()
        #expect(try db.value("SELECT hex(content) FROM file WHERE id = 1", as: String.self) == "0A0B0C0D0E0F100708")
    }

    @Test func `what was written is rolled back with its transaction`() throws {
        #expect(throws: Mishap.self) {
            try db.transaction {
                let writer = try BlobWriter(db, location)
                try writer.append([99])
                throw Mishap()
            }
        }
        #expect(try db.value("SELECT hex(content) FROM file WHERE id = 1", as: String.self) == "000102030405060708")
    }

    @Test func `an open writer keeps its transaction from being committed`() throws {
        let writer = try BlobWriter(db, location)
        let error = #expect(throws: DatabaseError.self) { try db.transaction { try writer.append([1]) } }
        #expect(error?.resultCode.primary == .busy)
        try? writer.close()
    }

    @Test func `a closed reader and a closed connection throw`() throws {
        let reader = try BlobReader(db, location)
        #expect(throws: DatabaseError.self) { try db.close() }
        reader.close()
        reader.close()
        #expect(code { _ = try reader.read(at: 0, count: 1) } == .blobExpired)
        try db.close()
        #expect(throws: DatabaseError.self) { try reader.read(at: 0, count: 1) }
    }

    @Test func `releasing a reader closes it`() throws {
        do { _ = try BlobReader(db, location) }
        try db.close()
    }

    @Test func `a reader sees the content of the beginning while another connection writes`() throws {
        let scratch = Scratch()
        let writer = try Connection(scratch.path("a.db"), journalMode: .wal)
        try writer.execute("CREATE TABLE file (id INTEGER PRIMARY KEY, content); INSERT INTO file VALUES (1, x'AAAA')")
        let other = try Connection(scratch.path("a.db"))
        let reader = try BlobReader(other, location)
        try writer.execute("UPDATE file SET content = x'BBBB'")
        #expect(try reader.read(at: 0, count: 2) == [0xaa, 0xaa])
        reader.close()
        #expect(try BlobReader(other, location).read(at: 0, count: 2) == [0xbb, 0xbb])
    }

    private func code(_ body: () throws -> Void) -> VaultError.Code? {
        do { try body() } catch { return (error as? VaultError)?.code }
        return nil
    }
}
