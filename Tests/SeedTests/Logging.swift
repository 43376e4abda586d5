import SQLite
import Testing

@Suite struct LoggingSeeds {
    // seeds 000:2384 001:1449 002:362 003:1493
    @Test func `every statement is handed to a closure`() throws {
        let db = try Connection()
        final class Seen: @unchecked Sendable { var ran: [String] = [] }
        let seen = Seen()
        func print(_ text: String) { seen.ran.append(text) }
        #if DEBUG
            db.trace { print($0) }
        #else
            db.trace { print($0) }
        #endif
        try db.run("SELECT ?", 1)
        #expect(seen.ran == ["SELECT 1"])
    }
}
