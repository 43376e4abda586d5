import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct BlobStreamTests {
    private let location = BlobLocation("file", "content", rowid: 1)

    private func fill(_ access: DatabaseAccess) async throws {
        try await access.write { db in
            try db.execute("CREATE TABLE file (id INTEGER PRIMARY KEY, content BLOB)")
            try db.run("INSERT INTO file VALUES (1, ?)", with: ZeroBlob(300_000))
            let writer = try BlobWriter(db, BlobLocation("file", "content", rowid: 1))
            for number in 0..<3 { try writer.append([UInt8](repeating: UInt8(number + 1), count: 100_000)) }
            try writer.close()
        }
    }

    @Test func `a pool's stream is of one moment while others write`() async throws {
        let scratch = Scratch()
        let pool = try DatabasePool(scratch.path("db"))
        try await fill(pool)
        var first: [UInt8] = []
        for try await chunk in pool.chunks(of: location, size: 100_000) {
            try await pool.write { try $0.execute("UPDATE file SET content = zeroblob(300000)") }
            first.append(chunk[0])
        }
        #expect(first == [1, 2, 3])
        var now: [UInt8] = []
        for try await chunk in pool.chunks(of: location, size: 100_000) { now.append(chunk[0]) }
        #expect(now == [0, 0, 0])
        try await pool.close()
    }

    @Test func `a queue's stream ends with an error when anything was written in between`() async throws {
        for queue in [try DatabaseQueue()] {
            try await fill(queue)
            var count = 0
            for try await chunk in queue.chunks(of: location) { count += chunk.count }
            #expect(count == 300_000)
            for change in ["UPDATE file SET content = zeroblob(7)", "DROP TABLE file"] {
                var chunks = queue.chunks(of: location, size: 1).makeAsyncIterator()
                #expect(try await chunks.next() != nil)
                #expect(try await chunks.next() != nil)
                try await queue.write { try $0.execute(change) }
                await #expect(throws: VaultError.self) { try await chunks.next() }
                #expect(try await chunks.next() == nil)
            }
        }
    }

    @Test func `a missing row and a closed pool are errors`() async throws {
        let scratch = Scratch()
        let pool = try DatabasePool(scratch.path("db"))
        try await fill(pool)
        await #expect(throws: DatabaseError.self) {
            for try await _ in pool.chunks(of: BlobLocation("file", "content", rowid: 2)) {}
        }
        try await pool.close()
        await #expect(throws: VaultError.self) { for try await _ in pool.chunks(of: location) {} }
    }

    @Test func `a reader kept by a closure throws instead of reading memory that is gone`() async throws {
        for access in [try DatabaseQueue()] as [DatabaseAccess] {
            try await fill(access)
            let reader = try await access.read { try BlobReader($0, BlobLocation("file", "content", rowid: 1)) }
            let error = #expect(throws: VaultError.self) { try reader.read(at: 0, count: 1) }
            #expect(error?.code == .blobExpired)
            let later = try await access.read { try BlobReader($0, BlobLocation("file", "content", rowid: 1)).count }
            #expect(later == 300_000)
            #expect(throws: VaultError.self) { try reader.read(at: 0, count: 1) }
        }
    }

    @Test func `bytes written through a blob notify those who read the column`() async throws {
        let queue = try DatabaseQueue()
        try await fill(queue)
        var sums = queue.values { try $0.value("SELECT hex(substr(content, 1, 2)) FROM file", as: String.self) }
            .makeAsyncIterator()
        #expect(try await sums.next() == "0101")
        try await queue.write { db in
            let writer = try BlobWriter(db, BlobLocation("file", "content", rowid: 1))
            try writer.append([7])
            try writer.close()
        }
        #expect(try await sums.next() == "0701")
        try await queue.writeWithoutTransaction { db in
            let writer = try BlobWriter(db, BlobLocation("FILE", "content", rowid: 1))
            try writer.append([8])
            try writer.close()
        }
        #expect(try await sums.next() == "0801")
    }
}
