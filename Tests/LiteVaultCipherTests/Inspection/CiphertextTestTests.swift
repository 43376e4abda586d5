import CEngineSupport
import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// Bytes as ciphertext has them.
private func random(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<count).map { _ in .random(in: 0...255, using: &generator) }
}

/// The numbers of the pages that cannot be ciphertext.
private func plainPages(_ bytes: [UInt8], pageSize: Int, clear: Int?) -> [Int] {
    bytes.withUnsafeBytes { all in
        (0..<(bytes.count / pageSize)).filter { index in
            let page = UnsafeRawBufferPointer(rebasing: all[(index * pageSize)..<((index + 1) * pageSize)])
            return CiphertextTest.plaintext(in: page, after: index == 0 ? clear ?? 0 : 0) != nil
        }.map { $0 + 1 }
    }
}

private func clearBytes(_ bytes: [UInt8]) -> Int? {
    bytes.withUnsafeBytes { CiphertextTest.clearBytes(ofFirstPage: UnsafeRawBufferPointer(rebasing: $0.prefix(65536))) }
}

private func kind(_ bytes: [UInt8]) -> FileKind {
    FileKind.classify(size: Int64(bytes.count)) { offset, count in
        Array(bytes[min(bytes.count, Int(offset))..<min(bytes.count, Int(offset) + count)])
    }
}

@Suite struct CiphertextTestTests {
    // MARK: The limits

    @Test(arguments: [128, 256, 384, 512, 1024, 1536, 2048, 2560, 3072, 3584, 4096])
    func `uniform bytes reach a limit with a probability of at most 2^-80`(length: Int) {
        let most = Double(lv_byte_limit(length, false))
        let squares = Double(lv_byte_limit(length, true))
        let n = Double(length)
        // Base-2 logarithms, as the documentation of CiphertextTest derives them.
        let choose: Double = (lgamma(n + 1) - lgamma(most + 1) - lgamma(n - most + 1)) / log(2.0)
        #expect(8 + choose - 8 * most <= -81)
        #expect(Self.tail(length, most: most, squares: squares) <= -81)
        // Nothing is given away: one less, and the bound would not hold.
        #expect(Self.tail(length, most: most, squares: squares - 40) > -81)
    }

    private static func tail(_ length: Int, most: Double, squares: Double) -> Double {
        let n = Double(length)
        let mean = n / 256
        let values: [Double] = Array(stride(from: 0.0, to: most, by: 1))
        let condition: Double = n - n * log(n) + lgamma(n + 1)
        func exponent(_ t: Double) -> Double {
            let terms = values.map { (x: Double) -> Double in
                let density: Double = x * log(mean) - mean - lgamma(x + 1)
                return density + t * x * x
            }
            let largest: Double = terms.max() ?? 0
            let scaled = terms.map { (term: Double) -> Double in exp(term - largest) }
            let sum: Double = largest + log(scaled.reduce(0, +))
            return condition - t * squares + 256 * sum
        }
        // The exponent is convex in t.
        var (low, high) = (0.0, 0.2)
        for _ in 0..<100 {
            let (first, second) = (low + (high - low) / 3, high - (high - low) / 3)
            if exponent(first) < exponent(second) { high = second } else { low = first }
        }
        return exponent(low) / log(2)
    }

    @Test func `random bytes pass, and fail where they become uneven`() {
        let bytes = random(8 << 20)
        #expect(plainPages(bytes, pageSize: 4096, clear: 0) == [])
        var block = random(4096)
        // Twice the limit of a window: one that just reaches it may be hidden by the block around it.
        for index in 0..<66 { block[1024 + 7 * index] = 0 }
        #expect(plainPages(block, pageSize: 4096, clear: 0) == [1])
        // Spread over the block, no window shows it, but all together do.
        block = random(4096).map { UInt8($0 & 0x7f) }
        #expect(plainPages(block, pageSize: 4096, clear: 0) == [1])
        block = random(4096)
        for index in 0..<160 { block[25 * index] = 0x20 }
        #expect(plainPages(block, pageSize: 4096, clear: 0) == [1])
    }

    @Test func `pages of zeros are ignored, wherever they are`() {
        var bytes = random(64 << 10)
        for index in 8192..<12288 { bytes[index] = 0 }
        for index in 20480..<20992 { bytes[index] = 0 }
        #expect(plainPages(bytes, pageSize: 4096, clear: 0) == [])
    }

    // MARK: Databases of others

    @Test(arguments: Fixture.all)
    func `no page of an encrypted fixture is taken for plaintext`(fixture: Fixture) throws {
        let bytes = try Fixture.bytes(fixture.name)
        let clear = try #require(clearBytes(bytes))
        #expect(clear == (fixture.name.contains("plainheader") ? 128 : 16))
        #expect(plainPages(bytes, pageSize: 512, clear: clear) == [])
    }

    @Test(arguments: [
        "tampered-page1.db", "tampered-page3.db", "truncated-midpage.db", "truncated-page.db", "rekey-hot-journal.db",
        "wal-uncheckpointed.db",
    ])
    func `a damaged encrypted file is still encrypted`(name: String) throws {
        let bytes = try Fixture.bytes("hostile/" + name)
        #expect(kind(bytes) == .encryptedOrUnknown)
        #expect(plainPages(bytes, pageSize: 512, clear: 16) == [])
    }

    @Test func `H-TMP-03 one odd byte in its header does not make a plain database an encrypted one`() throws {
        let bytes = try Fixture.bytes("plain-3.40.1.db")
        #expect(kind(bytes) == .plain)
        for offset in 16..<108 {
            for value: UInt8 in [0, 1, 3, 61, 0x80, 0xff] {
                var odd = bytes
                odd[offset] = value
                #expect(kind(odd) == .plain, "byte \(offset) is \(value)")
            }
        }
        // All of them at once, as ciphertext would fill them.
        for _ in 0..<200 { #expect(kind(bytes[..<16] + random(92) + bytes[108...]) == .plain) }
    }

    @Test(arguments: [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])
    func `H-TMP-03 every page of a plain database is recognized, of any size`(pageSize: Int) throws {
        let scratch = Scratch()
        let path = try make(scratch.path("plain.db"), nil, pageSize: pageSize)
        let bytes = try scratch.bytes("plain.db")
        #expect(kind(bytes) == .plain)
        #expect(clearBytes(bytes) == nil)
        let pages = plainPages(bytes, pageSize: pageSize, clear: 0)
        let unseen = (1...(bytes.count / pageSize)).filter { !pages.contains($0) }
        // Pages that were freed are left out of the test when they were never written.
        let written = unseen.filter { page in bytes[((page - 1) * pageSize)..<(page * pageSize)].contains { $0 != 0 } }
        #expect(written == [], "of \(bytes.count / pageSize) pages of \(path)")
    }

    @Test(
        .enabled(if: Engine.encrypts, "the linked engine does not encrypt"),
        arguments: [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536])
    func `no page that the engine encrypts is taken for plaintext, of any size`(pageSize: Int) throws {
        let scratch = Scratch()
        // Pages of 512 bytes have no room for a code.
        let settings = CipherSettings(pageSize: pageSize, usesHMAC: pageSize > 512)
        _ = try make(scratch.path("cipher.db"), settings, pageSize: pageSize)
        let bytes = try scratch.bytes("cipher.db")
        #expect(bytes.count / pageSize > 10)
        #expect(kind(bytes) == .encryptedOrUnknown)
        #expect(plainPages(bytes, pageSize: 512, clear: 16) == [])
    }

    @Test(
        .enabled(if: Engine.format4, "needs the format of SQLCipher 4"), arguments: [512, 1024, 4096, 65536], [32, 96])
    func `a plaintext header is distinguished from a plain database, of any size`(pageSize: Int, length: Int) throws {
        let scratch = Scratch()
        let settings = CipherSettings(
            pageSize: pageSize, usesHMAC: pageSize > 512, plaintextHeaderSize: length, salt: Fixture.saltBytes)
        _ = try make(scratch.path("cipher.db"), settings, pageSize: pageSize)
        let bytes = try scratch.bytes("cipher.db")
        #expect(kind(bytes) == .plaintextHeader)
        #expect(plainPages(bytes, pageSize: pageSize, clear: clearBytes(bytes)) == [])
    }

    /// A database with tables of text, numbers and bytes, an index, overflow pages, pointer maps, and a free list.
    private func make(_ path: String, _ settings: CipherSettings?, pageSize: Int) throws -> String {
        let db: Connection
        if let settings {
            db = try Connection(path, key: .raw(Array(0..<32)), settings: settings)
        } else {
            db = try Connection(path)
            try db.execute("PRAGMA page_size = \(pageSize)")
        }
        try db.execute(
            """
            PRAGMA auto_vacuum = 2;
            CREATE TABLE texts(a, b); CREATE TABLE numbers(a INTEGER, b REAL); CREATE TABLE blobs(a);
            CREATE INDEX texts_a ON texts(a);
            """)
        let rows = max(400, 20 * pageSize / 100)
        try db.transaction {
            for row in 0..<rows {
                try db.run(
                    "INSERT INTO texts VALUES (?, ?)", with: "the text of row \(row)", "and more of it, so that pages fill")
                try db.run("INSERT INTO numbers VALUES (?, ?)", with: row * 7919, Double(row) / 7)
            }
            try db.run("INSERT INTO blobs VALUES (zeroblob(?))", with: 3 * pageSize)
            try db.run("INSERT INTO texts VALUES (?, '')", with: String(repeating: "A long text. ", count: pageSize / 4))
            try db.execute("CREATE TABLE gone AS SELECT * FROM texts; DROP TABLE gone")
        }
        try db.close()
        return path
    }
}
