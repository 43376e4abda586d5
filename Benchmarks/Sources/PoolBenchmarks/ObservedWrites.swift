import Foundation
import LiteVault

/// What observers cost those who write: transactions of 1000 updates, without waiting for the disk.
enum ObservedWrites {
    private static let updates = 1000
    private static let transactions = 20

    private struct Case {
        let name: String
        let run: () throws -> Void
    }

    static func run(in directory: URL, rounds: Int) async throws {
        func pool(_ name: String) throws -> DatabasePool {
            var configuration = DatabaseConfiguration()
            configuration.synchronous = .off
            let pool = try DatabasePool(directory.appendingPathComponent(name).path, configuration: configuration)
            try pool.write(fill)
            try pool.write { try $0.execute("CREATE TABLE other (x)") }
            return pool
        }
        let connection = try Connection(directory.appendingPathComponent("w0").path, journalMode: .wal)
        try connection.setPragma(.synchronous, to: .off)
        try connection.transaction { try fill(connection) }
        let plain = try pool("w1")
        let was = try pool("w2")
        let other = try pool("w3")
        let column = try pool("w4")
        let same = try pool("w5")
        var observations = [
            other.observe(.table("other"), onError: { fatalError("\($0)") }, onChange: {}),
            column.observe(.columns(["b"], of: "item"), onError: { fatalError("\($0)") }, onChange: {}),
            same.observe(.columns(["a"], of: "item"), onError: { fatalError("\($0)") }, onChange: {}),
        ]
        let ended = was.observe(.everything, onError: { fatalError("\($0)") }, onChange: {})
        try await Task.sleep(for: .milliseconds(300))
        ended.cancel()
        try await Task.sleep(for: .milliseconds(300))
        let cases = [
            Case(name: "a connection") { try connection.transaction(.immediate) { try update(connection) } },
            Case(name: "a pool, never observed") { try plain.write(update) },
            Case(name: "a pool whose observation is over") { try was.write(update) },
            Case(name: "observed: another table") { try other.write(update) },
            Case(name: "observed: another column") { try column.write(update) },
            Case(name: "observed: the column that is set") { try same.write(update) },
        ]
        var times = [[Double]](repeating: [], count: cases.count)
        for round in 0...rounds {
            for (index, each) in cases.enumerated() {
                let start = cpuSeconds()
                for _ in 0..<transactions { try each.run() }
                if round > 0 { times[index].append(cpuSeconds() - start) }
            }
        }
        observations.removeAll()
        print("\n| writes of | µs for each update | ratio |\n|---|---:|---:|")
        for (each, own) in zip(cases, times) {
            let ratio = median(zip(own, times[0]).map { $0 / $1 })
            let micros = median(own) * 1e6 / Double(updates * transactions)
            print("| \(each.name) | \(String(format: "%.2f | %.2f", micros, ratio)) |")
        }
        print("\nCPU time; ratios to a connection, round by round.")
    }

    private static func fill(_ db: Connection) throws {
        try db.execute("CREATE TABLE item (id INTEGER PRIMARY KEY, a INTEGER, b TEXT)")
        for id in 1...updates { try db.run("INSERT INTO item VALUES (?, 0, 'text')", with: Int64(id)) }
    }

    private static func update(_ db: Connection) throws {
        for id in 1...updates { try db.run("UPDATE item SET a = a + 1 WHERE id = ?", with: Int64(id)) }
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func cpuSeconds() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
