import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultTestSupport
import Testing

#if compiler(>=6.2)
    /// Processes that find a file missing at the same time each choose a salt for it. One of them writes its own.
    @Suite(.enabled(if: EngineInfo.linked.encrypts), .serialized) struct CreationRaceTests {
        private static let processes = 5
        private static let rounds = 12

        /// What both sides know without telling each other: a child cannot be given anything.
        private static func folder(of parent: Int32) -> URL {
            FileManager.default.temporaryDirectory.appendingPathComponent("litevault-creation-\(parent)")
        }

        /// In a child: opens a new database in each round, at the same moments as the others, and adds a row.
        static func open(_ access: (String, DatabaseKey) throws -> DatabaseAccess) throws {
            let folder = folder(of: getppid())
            try Data().write(to: folder.appendingPathComponent("ready-\(getpid())"))
            let start = folder.appendingPathComponent("start")
            for _ in 0..<60_000 where !FileManager.default.fileExists(atPath: start.path) { usleep(1000) }
            let begin = Double(String(decoding: try Data(contentsOf: start), as: UTF8.self)) ?? 0
            do { try rounds(in: folder, from: begin, access) } catch {
                // What a process dies of is not seen from outside.
                try Data("\(error)".utf8).write(to: folder.appendingPathComponent("error-\(getpid())"))
                throw error
            }
        }

        private static func rounds(
            in folder: URL, from begin: Double, _ access: (String, DatabaseKey) throws -> DatabaseAccess
        ) throws {
            for round in 0..<rounds {
                let wait = begin + Double(round) * 0.1 - Date().timeIntervalSince1970
                if wait > 0 { Thread.sleep(forTimeInterval: wait) }
                let database = try access(folder.appendingPathComponent("db-\(round)").path, .passphrase("the key"))
                try database.write { db in
                    try db.execute("CREATE TABLE IF NOT EXISTS t (a)")
                    try db.insert("\(getpid())")
                }
                // After a write, so that a reader of the pool is opened as well.
                guard try database.read({ try $0.count() }) > 0 else { throw Refused() }
                guard database.coordinator.keyDerivations <= 2 else { throw Refused() }
                try database.close()
            }
        }

        /// In the parent: lets all begin at the same time, and looks at what they have made.
        private func race(_ child: @escaping @Sendable () async -> Void) async throws {
            let folder = Self.folder(of: getpid())
            try? FileManager.default.removeItem(at: folder)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            // Not in a task: exit tests wait for their processes on the threads that tasks share.
            background {
                for _ in 0..<20_000 {
                    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
                    if files.count(where: { $0.hasPrefix("ready-") }) == Self.processes { break }
                    usleep(1000)
                }
                let begin = Date().timeIntervalSince1970 + 0.1
                try? Data("\(begin)".utf8).write(to: folder.appendingPathComponent("start"), options: .atomic)
            }
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<Self.processes { group.addTask { await child() } }
            }
            for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where name.hasPrefix("error-")
            {
                let text = try Data(contentsOf: folder.appendingPathComponent(name))
                Issue.record("\(name): \(String(decoding: text, as: UTF8.self))")
            }
            for round in 0..<Self.rounds {
                let path = folder.appendingPathComponent("db-\(round)").path
                let db = try Connection(path, key: .passphrase("the key"), settings: fast)
                #expect(try db.count() == Self.processes)
            }
        }

        @Test func `processes that create a database by pools at the same time all succeed`() async throws {
            try await race {
                await #expect(processExitsWith: .success) {
                    try CreationRaceTests.open { try DatabasePool($0, key: $1, settings: fast) }
                }
            }
        }

        @Test func `processes that create a database by queues at the same time all succeed`() async throws {
            try await race {
                await #expect(processExitsWith: .success) {
                    try CreationRaceTests.open { try DatabaseQueue($0, key: $1, settings: fast) }
                }
            }
        }

        @Test func `H-KEY-17 a file that another process creates while a queue opens it is used with its own salt`()
            throws
        {
            let scratch = Scratch()
            let path = scratch.path("db")
            for key in [try DatabaseKey.passphrase("the key"), try .raw([UInt8](repeating: 1, count: 32))] {
                try? FileManager.default.removeItem(atPath: path)
                var configuration = DatabaseConfiguration()
                // Runs after the key was verified on the empty file, as another process might.
                configuration.prepare = { _ in
                    guard try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty else { return }
                    try Connection(path, key: key, settings: fast).execute(Scratch.content)
                }
                let queue = try DatabaseQueue(path, key: key, settings: fast, configuration: configuration)
                try queue.write { try $0.insert("x") }
                #expect(try queue.read { try $0.count() } == 4)
                try queue.close()
            }
        }

        @Test func `a queue writes the salt when it opens, so that nobody chooses another one`() throws {
            let scratch = Scratch()
            let path = scratch.path("db")
            for key in [try DatabaseKey.passphrase("the key"), try .raw([UInt8](repeating: 1, count: 32))] {
                try? FileManager.default.removeItem(atPath: path)
                var configuration = DatabaseConfiguration()
                // What can be set only before the first page is written can be.
                configuration.prepare = { try $0.execute("PRAGMA auto_vacuum = FULL") }
                let first = try DatabaseQueue(path, key: key, settings: fast, configuration: configuration)
                let second = try DatabaseQueue(path, key: key, settings: fast)
                try second.write { try $0.execute(Scratch.content) }
                try first.write { try $0.insert("x") }
                #expect(try second.read { try $0.count() } == 4)
                #expect(try second.read { try $0.integer("auto_vacuum") } == 1)
                try first.close()
                try second.close()
            }
        }
    }
#endif
