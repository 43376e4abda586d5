import CEngineSupport
import LiteVault
import Testing

@Suite struct WriteAheadLogTests {
    private func log(_ bytes: [UInt8]) throws -> WriteAheadLog? {
        try WriteAheadLog(size: Int64(bytes.count), path: "x-wal") { offset, count in
            Array(bytes[min(bytes.count, Int(offset))..<min(bytes.count, Int(offset) + count)])
        }
    }

    private func fixture() throws -> [UInt8] { try Fixture.bytes("hostile/wal-uncheckpointed.db-wal") }

    @Test func `the frames of a log are found without a key`() throws {
        let log = try #require(try log(fixture()))
        #expect(log.pageSize == 4096)
        #expect(log.committed.count == 3)
        let offsets: [Int64] = [56, 4176, 8296]
        #expect(log.committed.map(\.offset) == offsets)
        #expect(log.uncommitted == 0)
        #expect(log.brokenAt == nil)
    }

    @Test(.enabled(if: lv_digests_available(), "SHA and HMAC come with an engine that encrypts"))
    func `the pages in a log authenticate like those of the database`() throws {
        let bytes = try fixture()
        let log = try #require(try log(bytes))
        let authenticator = try PageAuthenticator(
            key: .passphrase("fixture-pass"),
            layout: PageLayout(.init(kdfIterations: 1000), defaultCompatibility: 4),
            fileSalt: Array(try Fixture.bytes("hostile/wal-uncheckpointed.db").prefix(16)))
        for frame in log.committed {
            var page = Array(bytes[Int(frame.offset)..<(Int(frame.offset) + log.pageSize)])
            #expect(page.withUnsafeBytes { authenticator.authenticates($0, number: frame.page) })
            page[100] ^= 1
            #expect(!page.withUnsafeBytes { authenticator.authenticates($0, number: frame.page) })
        }
    }

    @Test(arguments: [32 + 24 + 7, 32 + 4120 + 100, 32 + 2 * 4120 + 17])
    func `a flipped byte breaks the chain and is reported, where SQLite silently forgets the rows`(at: Int) throws {
        var bytes = try fixture()
        bytes[at] ^= 0x10
        let log = try #require(try log(bytes))
        #expect(log.brokenAt == (at - 32) / 4120 + 1)
        #expect(log.committed.count < 3)
    }

    @Test func `of each page of a log the newest frame counts, and none of a page behind the end`() throws {
        let log = try #require(try log(fixture()))
        let pages = log.committed.map(\.page)
        for count in [0, pages.min() ?? 0, .max] as [UInt32] {
            let newest = NewestFrames(of: log.committed, upTo: count)
            #expect(newest.count == Set(pages.filter { $0 <= count }).count)
            for page in 0...(pages.max() ?? 0) + 1 {
                let last = page <= count ? log.committed.last(where: { $0.page == page }) : nil
                #expect(newest.offset(of: page) == last?.offset)
            }
        }
    }

    @Test func `an unfinished transaction at the end is not damage`() throws {
        let bytes = Array(try fixture().dropLast(4120))
        let log = try #require(try log(bytes))
        #expect(log.brokenAt == nil)
        #expect(log.committed.count + log.uncommitted == 2)
    }

    @Test func `a damaged header of a log is damage`() throws {
        var bytes = try fixture()
        bytes[20] ^= 1
        let error = #expect(throws: VaultError.self) { try log(bytes) }
        #expect(error?.code == .damaged)
    }

    @Test func `an empty log counts as none`() throws {
        #expect(try log([]) == nil)
        #expect(try log([UInt8](repeating: 0, count: 4096)) == nil)
    }
}
