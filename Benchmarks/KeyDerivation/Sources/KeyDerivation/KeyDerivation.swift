import Foundation
import LiteVault

/// KeyDerivation [ROUNDS]: opening a pool with a passphrase and reading on 8 readers at once, compared with opening one
/// connection and reading. In CPU time of the process, as the readers run at the same time.
@main
enum KeyDerivation {
    static func main() throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 11
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-\(UUID().uuidString).db").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        let key = try DatabaseKey.passphrase("a passphrase")
        let new = try DatabasePool(path, key: key)
        try new.write { try $0.execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)") }
        try new.close()
        var ratios: [Double] = []
        var one: [Double] = []
        for _ in 0..<rounds {
            let connection = try measure {
                let connection = try Connection(path, key: key)
                _ = try connection.value("SELECT x FROM t", as: StoredValue.self)
                try connection.close()
            }
            let pool = try measure { try useEightReaders(path, key) }
            one.append(connection)
            ratios.append(pool / connection)
        }
        let ratio = ratios.sorted()[rounds / 2]
        print(
            String(
                format: "one connection %.1f ms; a pool with 8 readers %.2f times that (at most 1.20); %@",
                one.sorted()[rounds / 2] * 1000, ratio, "\(EngineInfo.linked.encryption)"))
        if ratio > 1.2 { exit(1) }
    }

    private static func useEightReaders(_ path: String, _ key: DatabaseKey) throws {
        var configuration = DatabaseConfiguration()
        configuration.maximumReaderCount = 8
        let pool = try DatabasePool(path, key: key, configuration: configuration)
        let inside = DispatchSemaphore(value: 0)
        let goOn = DispatchSemaphore(value: 0)
        let done = DispatchGroup()
        for _ in 0..<8 {
            done.enter()
            Thread {
                do {
                    try pool.read { db in
                        _ = try db.value("SELECT x FROM t", as: StoredValue.self)
                        inside.signal()
                        goOn.wait()
                    }
                } catch { fatalError("\(error)") }
                done.leave()
            }.start()
        }
        for _ in 0..<8 { inside.wait() }
        for _ in 0..<8 { goOn.signal() }
        done.wait()
        try pool.close()
    }

    private static func measure(_ body: () throws -> Void) rethrows -> Double {
        func now() -> Double {
            var time = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
            return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
        }
        let start = now()
        try body()
        return now() - start
    }
}
