import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// The limits of what is read, and what a store in a directory does with them.
@Suite(.limited) struct ReadLimitsTests {
    let scratch = Scratch()

    /// The rows of the table "Limits" of the format's page.
    private func page() throws -> [String: String] {
        let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in url.deletingLastPathComponent() }
        let path = root.appendingPathComponent("Sources/LiteVault/Documentation.docc/RepositoryFormat.md")
        let text = try String(contentsOf: path, encoding: .utf8)
        let table = try #require(text.components(separatedBy: "\n## Limits\n").last?.components(separatedBy: "\n## ").first)
        let rows = table.split(separator: "\n").map { $0.components(separatedBy: "|") }.filter { $0.count == 4 }
        return Dictionary(
            rows.map { ($0[1].trimmingCharacters(in: .whitespaces), $0[2].trimmingCharacters(in: .whitespaces)) }) { $1 }
    }

    @Test func `the format's page has the limits that all stores and commands use`() throws {
        let page = try page()
        #expect(RepositoryFormat.packBlocks * 4096 == 32 << 20)
        #expect(page["data packs"] == "32 MiB of blocks")
        #expect(ReadLimits.bytes(of: "data/x") == RepositoryFormat.dataPackSize(blocks: RepositoryFormat.packBlocks))
        #expect(ReadLimits.bytes(of: "tree/x") == 33 << 20)
        #expect(page["tree packs"] == "33 MiB")
        // In Swift `<<` binds more tightly than `+`.
        let segmentBytes: Int64 = 4 << 30 + 8 << 10
        #expect(ReadLimits.bytes(of: "segments/x") == segmentBytes)
        #expect(page["segments"] == "4 GiB, and 8 KiB for the document")
        let documentBytes: Int64 = 64 << 10 + 256
        #expect(ReadLimits.bytes(of: "snapshots/x") == documentBytes)
        #expect(page["`repository.json`, manifests, leases"] == "64 KiB of JSON")
        let recordBytes: Int64 = 16 << 20 + 256
        #expect(ReadLimits.bytes(of: "forgotten/x") == recordBytes)
        #expect(page["`forgotten/…`, `verified/…`, `doomed.json`"]?.hasPrefix("16 MiB of JSON;") == true)
        #expect(ReadLimits.objectBytes == 1 << 48)
        #expect(
            page["objects of a listing"] == "5,000,000, each of 2^48 bytes at most, in \(ReadLimits.depth) levels of directories")
        #expect(ReadLimits.entries == 5_000_000)
    }

    @Test func `H-SEC-08: directories within directories, and files of 2^62 bytes, do not keep a listing busy`() async throws {
        let store = DirectoryStore(scratch.path("repository"))
        try await store.put("data/a", bytes: [1], condition: .absent)
        let deep = scratch.path("repository/data") + String(repeating: "/d", count: 40)
        try FileManager.default.createDirectory(atPath: deep, withIntermediateDirectories: true)
        let error = await #expect(throws: VaultError.self) { try await store.list("") }
        #expect(error?.message.contains("does not end") == true)
        try FileManager.default.removeItem(atPath: scratch.path("repository/data/d"))
        #expect(try await store.list("").map(\.name) == ["data/a"])
        let file = try LocalFile(creating: scratch.path("repository/data/b"))
        // Not every file system has such files.
        guard (try? file.truncate(to: 1 << 62)) != nil else { return }
        #expect(await #expect(throws: VaultError.self) { try await store.list("data/") }?.code == .damaged)
    }
}
