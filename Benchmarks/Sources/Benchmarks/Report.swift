internal import Foundation

/// What is printed in the end.
struct Report {
    let results: [Measurement]
    let rounds: Int

    /// The bars that were missed, in words.
    var failures: [String] {
        results.flatMap { result in
            guard let own = result.lines.first(where: { $0.implementation.kind == .liteVault }) else {
                return [String]()
            }
            var failures: [String] = []
            if let bar = result.workload.bar, own.ratio > bar {
                let baseline = result.lines.first?.implementation.name ?? "C"
                failures.append(
                    "\(result.name): \(format(own.ratio)) of \(baseline), at most \(format(bar)) is asked for")
            }
            for peer in result.lines where peer.implementation.kind == .grdb && peer.ratio <= own.ratio {
                failures.append("\(result.name): not ahead of \(peer.implementation.name)")
            }
            return failures
        }
    }

    /// A Markdown table.
    var table: String {
        var lines = ["| workload | implementation | ns each | ratio to C | bar |", "|---|---|---:|---:|---:|"]
        for result in results {
            let bar = result.workload.bar
            for line in result.lines {
                let nanoseconds = String(format: "%.0f", line.time / Double(result.workload.count) * 1e9)
                let own = line.implementation.kind == .liteVault
                let limit = own ? bar.map { "<= " + format($0) } ?? "" : ""
                lines.append(
                    "| \(result.name) | \(line.implementation.name) | \(nanoseconds) | \(format(line.ratio)) | \(limit) |"
                )
            }
        }
        let missed = failures.isEmpty ? ["All bars are met."] : failures
        return (lines + ["", "CPU time, medians of \(rounds) rounds."] + missed).joined(separator: "\n")
    }

    /// The same for programs, with the time of every round in seconds.
    var json: String {
        get throws {
            let lines = results.flatMap { result in
                result.lines.map { line in
                    Line(
                        workload: result.name, implementation: line.implementation.name,
                        kind: line.implementation.kind.rawValue, count: result.workload.count, seconds: line.seconds,
                        median: line.time, ratio: line.ratio,
                        bar: line.implementation.kind == .liteVault ? result.workload.bar : nil)
                }
            }
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            return String(decoding: try encoder.encode(Document(results: lines, missed: failures)), as: UTF8.self)
        }
    }

    private struct Document: Encodable {
        let results: [Line]
        let missed: [String]
    }

    private struct Line: Encodable {
        let workload: String
        let implementation: String
        let kind: String
        let count: Int
        let seconds: [Double]
        let median: Double
        let ratio: Double
        let bar: Double?
    }
}

private func format(_ number: Double) -> String { String(format: "%.2f", number) }
