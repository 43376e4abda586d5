import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

/// The code of the articles: it runs here, and what the articles show is what runs.
@Suite struct DocumentationTests {
    let scratch: Scratch
    let path: String
    let key: DatabaseKey?
    let newKey: DatabaseKey

    init() throws {
        scratch = Scratch()
        path = scratch.path("db")
        key = EngineInfo.linked.encrypts ? try .passphrase("a passphrase") : nil
        newKey = try .passphrase("a new passphrase")
    }

    @Test func `the code of the article on concurrency runs`() async throws {
        let pool = try DatabasePool(path, key: key)
        try await pool.write { db in
            try db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
            try db.run("INSERT INTO note (text) VALUES (?)", with: "milk")
        }
        let texts = try await pool.read { db in
            try db.all("SELECT text FROM note") { try $0.get(0, as: String.self) }
        }
        #expect(texts == ["milk"])

        let task = Task {
            try await pool.write { db in
                for number in 1... { try db.run("INSERT INTO note (text) VALUES (\(number))") }
            }
        }
        task.cancel()
        let result = await task.result // a failure, and no note was added
        #expect(throws: CancellationError.self) { try result.get() }
        #expect(try await pool.read { try $0.value("SELECT count(*) FROM note", as: Int64?.self) } == 1)

        let isReleased = await pool.suspend() // true: no lock is held, and accesses throw
        pool.resume()
        let count = try await pool.read { db in try db.value("SELECT count(*) FROM note", as: Int64.self) }
        #expect(isReleased)
        #expect(count == 1)

        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 8
        configuration.synchronous = .normal // faster; a power failure may undo the last commits
        configuration.prepare = { db in
            try db.defineFunction("shout", argumentCount: 1, deterministic: true) { ($0[0] as? String)?.uppercased() }
        }
        let configured = try DatabasePool(path, key: key, configuration: configuration)
        let loud = try await configured.read { db in try db.value("SELECT shout(text) FROM note LIMIT 1", as: String.self) }
        #expect(loud == "MILK")
        try await configured.close()
        do {
            try await pool.rekey(to: newKey)
            try await pool.backup(to: path + ".copy")
            try await pool.vacuum()
            pool.releaseMemory()
            try await pool.close()
        } catch let error as VaultError where error.code == .wrongKind {
            #expect(!EngineInfo.linked.encrypts)
        }
        try withoutTasks()
        #expect(FileManager.default.fileExists(atPath: path + ".copy") == EngineInfo.linked.encrypts)
    }

    /// Synchronous, as in a program without tasks.
    private func withoutTasks() throws {
        let queue: DatabaseAccess = try DatabaseQueue()
        try queue.write { db in try db.execute("CREATE TABLE note (text TEXT)") }
    }

    @Test func `the code of the article on observation runs`() async throws {
        let pool = try DatabasePool(path, key: key)
        let shown = Flag([String]())
        try await pool.write { db in
            try db.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); CREATE TABLE person (id INTEGER PRIMARY KEY)")
        }
        let counts = pool.values { db in
            try db.first("SELECT count(*) FROM note") { try $0.get(0, as: Int.self) } ?? 0
        }
        for try await count in counts {
            if count == 3 { break }
            try await pool.write { db in try db.run("INSERT INTO note (text) VALUES (?)", with: "number \(count)") }
        }
        let observation = pool.observe(
            { db in try db.all("SELECT text FROM note") { try $0.get(0, as: String.self) } },
            onError: { error in print(error) },
            onChange: { texts in shown.set(texts) })
        #expect(await eventually { shown.value.count == 3 })
        let region = DatabaseRegion.columns(["text"], of: "note").union(.rows([1, 2], of: "person"))
        var changes = pool.changes(in: region).makeAsyncIterator()
        _ = try await changes.next() // has begun
        try await pool.write { db in try db.execute("UPDATE note SET text = 'other'") }
        _ = try await changes.next() // was changed
        #expect(await eventually { shown.value == ["other", "other", "other"] })
        withExtendedLifetime(observation) {}
    }

    @Test(arguments: ["Concurrency.md", "Observation.md"])
    func `every Swift block of the articles is code that runs here`(article: String) throws {
        let tests = URL(fileURLWithPath: #filePath)
        let articles = tests.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Sources/LiteVault/Documentation.docc")
        let text = try String(contentsOf: articles.appendingPathComponent(article), encoding: .utf8)
        let code = lines(of: try String(contentsOf: tests, encoding: .utf8)).joined(separator: "\n")
        let parts = text.components(separatedBy: "```swift\n")
        // A block after `<!-- not run: REASON -->` cannot be run here.
        let blocks = zip(parts, parts.dropFirst()).compactMap { before, part in
            before.hasSuffix(" -->\n") && before.contains("<!-- not run: ") ? nil : part.components(separatedBy: "```")[0]
        }
        #expect(blocks.count >= 3)
        for block in blocks { #expect(code.contains(lines(of: block).joined(separator: "\n")), "\(block)") }
    }

    /// Without indentation and empty lines.
    private func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
