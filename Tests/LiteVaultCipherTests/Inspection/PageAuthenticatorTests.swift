import CEngineSupport
import LiteVault
import Testing

/// The engine is not asked here: pages are authenticated from the bytes of files that other engines wrote.
@Suite(.enabled(if: lv_digests_available(), "SHA and HMAC come with an engine that encrypts"))
struct PageAuthenticatorTests {
    private func authenticator(_ fixture: Fixture, key: DatabaseKey? = nil) throws -> PageAuthenticator {
        try PageAuthenticator(
            key: try key ?? fixture.databaseKey(), layout: PageLayout(fixture.settings, defaultCompatibility: 4),
            fileSalt: Array(try Fixture.bytes(fixture.name).prefix(16)))
    }

    private func report(_ authenticator: PageAuthenticator, _ bytes: [UInt8]) throws -> PageReport {
        try authenticator.report(size: Int64(bytes.count)) { offset, count in
            Array(bytes[Int(offset)..<min(bytes.count, Int(offset) + count)])
        }
    }

    static let authenticated = Fixture.all.filter { $0.settings.usesHMAC != false && $0.settings.compatibility != 1 }

    @Test(arguments: authenticated) func `every page of a fixture authenticates`(fixture: Fixture) throws {
        let bytes = try Fixture.bytes(fixture.name)
        let report = try report(authenticator(fixture), bytes)
        #expect(report.failures == [])
        #expect(report.trailingBytes == 0)
        #expect(report.pages * PageLayout(fixture.settings, defaultCompatibility: 4).pageSize == bytes.count)
    }

    @Test(arguments: authenticated) func `no page authenticates under another key`(fixture: Fixture) throws {
        let salted = fixture.key == .rawWithSalt || fixture.key == .rawWithAuthenticationKey
        let other: DatabaseKey =
            try salted
            ? .raw([UInt8](repeating: 1, count: 32), salt: Fixture.saltBytes) : .passphrase("another")
        let report = try report(authenticator(fixture, key: other), Fixture.bytes(fixture.name))
        #expect(report.failureCount == report.pages)
    }

    @Test func `pages without authentication codes are reported as unsupported`() throws {
        for fixture in Fixture.all where !Self.authenticated.contains(where: { $0.name == fixture.name }) {
            let error = #expect(throws: VaultError.self) { try authenticator(fixture) }
            #expect(error?.code == .unsupported)
        }
    }

    static let kdf1000 = Fixture.format4Files[2]

    @Test func `a damaged page is named, and so is a cut in the middle of one`() throws {
        let authenticator = try authenticator(Self.kdf1000)
        #expect(try report(authenticator, Fixture.bytes("hostile/tampered-page1.db")).failures == [1])
        #expect(try report(authenticator, Fixture.bytes("hostile/tampered-page3.db")).failures == [3])
        let cut = try report(authenticator, Fixture.bytes("hostile/truncated-midpage.db"))
        #expect(cut.failures == [])
        #expect(cut.pages == 2)
        #expect(cut.trailingBytes == 10288 - 8192)
    }

    @Test func `waiting for a write under way does not take longer the more pages are damaged`() throws {
        let authenticator = try authenticator(Self.kdf1000)
        // 40 MB: as many pages as matter, all of them wrong.
        let size: Int64 = 40 << 20
        var retries = 0
        let found = try authenticator.report(
            size: size, read: { [UInt8](repeating: UInt8(truncatingIfNeeded: $0 >> 12) | 1, count: $1) },
            retry: { retries += 1 })
        #expect(found.failureCount == Int(size) / 4096)
        #expect(retries == PageReport.retries)
    }

    @Test func `a page that was read during a write is read again`() throws {
        let bytes = try Fixture.bytes("v4-4.6.1-kdf1000.db")
        var torn = bytes
        for page in [1, 2] { torn[page * 4096 + 5] ^= 1 }
        var retries = 0
        let found = try authenticator(Self.kdf1000).report(
            size: Int64(bytes.count),
            read: { Array((retries == 0 ? torn : bytes)[Int($0)..<(Int($0) + $1)]) }, retry: { retries += 1 })
        #expect(found.failures == [] && retries == 1)
    }

    @Test func `a page in the place of another fails although it is genuine`() throws {
        let bytes = try Fixture.bytes("v4-4.6.1-kdf1000.db")
        let swapped = Array(bytes[0..<4096] + bytes[8192..<12288] + bytes[4096..<8192])
        #expect(try report(authenticator(Self.kdf1000), swapped).failures == [2, 3])
    }

    @Test func `a later page proves the key where the first page is damaged`() throws {
        let bytes = try Fixture.bytes("hostile/tampered-page1.db")
        let read = { (offset: Int64, count: Int) in Array(bytes[Int(offset)..<(Int(offset) + count)]) }
        let right = try authenticator(Self.kdf1000)
        #expect(right.authenticatesSomeLaterPage(size: Int64(bytes.count), read: read))
        let wrong = try authenticator(Self.kdf1000, key: .passphrase("another"))
        #expect(!wrong.authenticatesSomeLaterPage(size: Int64(bytes.count), read: read))
    }
}
