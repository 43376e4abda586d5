import Foundation

/// PoolBenchmarks [ROUNDS]: point reads from 4 tasks, or 4 threads, while somebody else commits all the time;
/// and what observers cost a writer.
@main
enum PoolBenchmarks {
    static let rows = 10_000
    static let reads = 4000
    static let readers = 4

    static func main() async throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 5
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("litevault-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        func path(_ name: String) -> String { directory.appendingPathComponent(name).path }
        let groups: [(String, [any Subject])] = [
            (
                "4 tasks, await",
                [
                    try GRDBPool(path("1"), reading: .cachedAsync), try LiteVaultPoolSubject(path("2"), reading: .async),
                    try GRDBPool(path("3"), reading: .async), try LiteVaultQueueSubject(path("4"), reading: .async),
                ]
            ),
            (
                "4 threads",
                [
                    try GRDBPool(path("5"), reading: .cachedSync), try LiteVaultPoolSubject(path("6"), reading: .sync),
                    try GRDBPool(path("7"), reading: .sync), try LiteVaultConnectionSubject(path("8")),
                ]
            ),
        ]
        print("| readers | implementation | reads/s | ratio | p50 µs | p99 µs | p99 ratio | commits/s |")
        print("|---|---|---:|---:|---:|---:|---:|---:|")
        for (name, subjects) in groups {
            var runs = [[Run]](repeating: [], count: subjects.count)
            for round in 0...rounds {
                for (index, subject) in subjects.enumerated() {
                    let run = try await measure(subject)
                    if round > 0 { runs[index].append(run) }
                }
            }
            for (subject, own) in zip(subjects, runs) {
                // Compared round by round, so that a slow moment of the machine slows both.
                let ratio = median(zip(own, runs[0]).map { $0.readsPerSecond / $1.readsPerSecond })
                let tail = median(zip(own, runs[0]).map { $0.p99 / $1.p99 })
                let line = String(
                    format: "%.0f | %.2f | %.0f | %.0f | %.3f | %.0f", median(own.map(\.readsPerSecond)), ratio,
                    median(own.map(\.p50)), median(own.map(\.p99)), tail, median(own.map(\.commitsPerSecond)))
                print("| \(name) | \(subject.name) | \(line) |")
            }
        }
        print("\nMedians of \(rounds) rounds; ratios to the first line of each group. Time on the wall.")
        try await ObservedWrites.run(in: directory, rounds: rounds)
    }

    /// One round.
    struct Run {
        var readsPerSecond = 0.0
        var p50 = 0.0
        var p99 = 0.0
        var commitsPerSecond = 0.0
    }

    private static func measure(_ subject: any Subject) async throws -> Run {
        let writing = Switch()
        let writer = Thread {
            var number: Int64 = 0
            while writing.isOn {
                number += 1
                do { try subject.write(1 + number % Int64(rows), value: number) } catch { fatalError("\(error)") }
                // Commits without a pause would leave a machine of 2 cores to the writer.
                usleep(500)
            }
            writing.finish(Int(number))
        }
        writer.start()
        let clock = ContinuousClock()
        let start = clock.now
        var latencies: [Double] = []
        if subject.isAsync {
            latencies = try await withThrowingTaskGroup(of: [Double].self) { group in
                for task in 0..<readers {
                    group.addTask {
                        var own: [Double] = []
                        own.reserveCapacity(reads)
                        for index in 0..<reads {
                            let begin = clock.now
                            let id = Int64((index * 7919 + task * 104729) % rows + 1)
                            guard try await subject.readAsync(id) == id else { throw Wrong() }
                            own.append((clock.now - begin) / .microseconds(1))
                        }
                        return own
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
        } else {
            let collected = Collected()
            let done = DispatchGroup()
            for task in 0..<readers {
                done.enter()
                Thread {
                    var own: [Double] = []
                    own.reserveCapacity(reads)
                    for index in 0..<reads {
                        let begin = clock.now
                        let id = Int64((index * 7919 + task * 104729) % rows + 1)
                        guard (try? subject.readSync(id)) == id else { fatalError("a read failed") }
                        own.append((clock.now - begin) / .microseconds(1))
                    }
                    collected.add(own)
                    done.leave()
                }.start()
            }
            await withCheckedContinuation { continuation in
                done.notify(queue: .global()) { continuation.resume() }
            }
            latencies = collected.all
        }
        let seconds = (clock.now - start) / .seconds(1)
        let commits = writing.stop()
        latencies.sort()
        return Run(
            readsPerSecond: Double(latencies.count) / seconds, p50: latencies[latencies.count / 2],
            p99: latencies[latencies.count * 99 / 100], commitsPerSecond: Double(commits) / seconds)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

struct Wrong: Error {}

/// What is measured.
protocol Subject: Sendable {
    var name: String { get }
    var isAsync: Bool { get }
    func readAsync(_ id: Int64) async throws -> Int64
    func readSync(_ id: Int64) throws -> Int64
    func write(_ id: Int64, value: Int64) throws
}

/// How a subject reads.
enum Reading { case async, cachedAsync, sync, cachedSync }

/// Lets the writer continue until it is stopped.
final class Switch: @unchecked Sendable {  // `on` and `count` only under `lock`
    private let lock = NSLock()
    private let finished = DispatchSemaphore(value: 0)
    private var on = true
    private var count = 0

    var isOn: Bool { lock.withLock { on } }

    func finish(_ count: Int) {
        lock.withLock { self.count = count }
        finished.signal()
    }

    func stop() -> Int {
        lock.withLock { on = false }
        finished.wait()
        return lock.withLock { count }
    }
}

/// The latencies of all threads.
final class Collected: @unchecked Sendable {  // `values` only under `lock`
    private let lock = NSLock()
    private var values: [Double] = []
    var all: [Double] { lock.withLock { values } }
    func add(_ more: [Double]) { lock.withLock { values += more } }
}
