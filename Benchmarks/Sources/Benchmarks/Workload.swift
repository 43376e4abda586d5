internal import Foundation

/// A task, and those who do it. The first one is the loop in C.
struct Workload {
    /// How often the task is done in one round, to print the time of one.
    let count: Int
    /// What LiteVault's typed API may cost, as a ratio to C.
    let bar: Double?
    let implementations: [Implementation]
}

/// One way to do the task.
struct Implementation {
    /// Whose way it is.
    enum Kind: String { case c, liteVault, grdb, other }

    let name: String
    let kind: Kind
    /// Does the task once, calling the stopwatch around what is to be measured. Returns a checksum of what it read or
    /// wrote, the same for each implementation.
    let run: (Stopwatch) throws -> Int64

    init(_ name: String, _ kind: Kind, run: @escaping (Stopwatch) throws -> Int64) {
        self.name = name
        self.kind = kind
        self.run = run
    }
}

/// Measures CPU time of the process: other processes on the machine hardly disturb it.
final class Stopwatch {
    private(set) var seconds = 0.0

    func measure<T>(_ body: () throws -> T) rethrows -> T {
        let start = clock_gettime_nsec()
        defer { seconds += Double(clock_gettime_nsec() - start) / 1e9 }
        return try body()
    }

    private func clock_gettime_nsec() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }
}

/// The measured times of a workload.
struct Measurement {
    struct Line {
        let implementation: Implementation
        /// Of one round each.
        let seconds: [Double]
        /// Medians.
        let time: Double
        let ratio: Double
    }

    let name: String
    let workload: Workload
    let lines: [Line]
}

/// Runs all implementations of a workload in turns: one round to warm up, then those that count.
func measure(_ name: String, _ workload: Workload, _ options: Options) throws -> Measurement {
    let chosen = workload.implementations.filter {
        options.implementations.isEmpty || options.implementations.contains($0.name)
    }
    var seconds = [[Double]](repeating: [], count: chosen.count)
    var expected: Int64?
    for round in 0...options.rounds {
        for (index, implementation) in chosen.enumerated() {
            let stopwatch = Stopwatch()
            let checksum = try implementation.run(stopwatch)
            if checksum != expected ?? checksum {
                throw Failure("\(name): \(implementation.name) has the checksum \(checksum), not \(expected ?? 0)")
            }
            expected = checksum
            if round > 0 { seconds[index].append(stopwatch.seconds) }
        }
    }
    return Measurement(
        name: name, workload: workload,
        lines: zip(chosen, seconds).map { implementation, own in
            // Compared round by round, so that a slow moment of the machine slows both.
            let ratios = zip(own, seconds[0]).map { $0 / $1 }
            return .init(implementation: implementation, seconds: own, time: median(own), ratio: median(ratios))
        })
}

private func median(_ values: [Double]) -> Double {
    let sorted = values.sorted()
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
