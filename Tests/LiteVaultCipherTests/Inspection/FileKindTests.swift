import LiteVault
import LiteVaultTestSupport
import Testing

@Suite struct FileKindTests {
    private func kind(_ name: String) throws -> FileKind {
        let file = try EngineFile(path: Fixture.path(name))
        return try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) }
    }

    @Test(arguments: Fixture.all.filter { $0.name != "v4-4.6.1-plainheader32.db" })
    func `an encrypted fixture is encrypted or unknown`(fixture: Fixture) throws {
        #expect(try kind(fixture.name) == .encryptedOrUnknown)
    }

    @Test func `a file is classified by its bytes`() throws {
        #expect(try kind("plain-3.40.1.db") == .plain)
        #expect(try kind("v4-4.6.1-plainheader32.db") == .plaintextHeader)
        #expect(try kind("hostile/zero-length.db") == .empty)
        #expect(try kind("hostile/magic-only.db") == .notADatabase)
        #expect(try kind("hostile/garbage-3000.db") == .notADatabase)
        #expect(try kind("README.md") == .notADatabase)
    }

    @Test func `a file truncated in the middle of a page still accepts a key`() throws {
        #expect(try kind("hostile/truncated-midpage.db") == .encryptedOrUnknown)
        #expect(try kind("hostile/tampered-page1.db") == .encryptedOrUnknown)
    }

    @Test func `text padded to whole pages is not taken for ciphertext`() throws {
        let scratch = Scratch()
        let text = Array(String(repeating: "All work and no play. ", count: 400).utf8.prefix(8192))
        let file = try EngineFile(path: scratch.write(text, to: "text.db"))
        #expect(try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) } == .notADatabase)
    }

    @Test(arguments: [16, 32, 48, 96, 112, 256])
    func `a plaintext header of any length is found`(length: Int) throws {
        // What SQLCipher leaves readable, with ciphertext behind it: taken from two fixtures of the same page size.
        let plain = try Fixture.bytes("plain-3.40.1.db")
        let cipher = try Fixture.bytes("v4-4.6.1-plainheader32.db")
        var mixed = Array(plain[0..<length]) + cipher[length...]
        if length > 20 { mixed[20] = 80 }
        let kind = FileKind.classify(size: Int64(mixed.count)) { offset, count in
            Array(mixed[Int(offset)..<min(mixed.count, Int(offset) + count)])
        }
        #expect(kind == .plaintextHeader)
    }

    @Test func `a missing file is reported as missing`() {
        let error = #expect(throws: VaultError.self) { try EngineFile(path: Fixture.path("no-such-file.db")) }
        #expect(error?.code == .noInput)
        #expect(error?.description.contains("no-such-file.db") == true)
    }

    @Test func `a directory is of the wrong kind`() {
        let error = #expect(throws: VaultError.self) { try EngineFile(path: Fixture.directory.path) }
        #expect(error?.code == .wrongKind)
    }
}
