internal import Foundation
internal import LiteVaultSchedule

/// Runs and states of jobs as the tool tells them.
enum OutcomeSummary {
    static func json(_ outcome: JobOutcome) -> [JSONValue.Member] {
        [
            .init(name: "job", value: .string(outcome.job)),
            .init(name: "succeeded", value: .bool(outcome.isSuccess)),
            .init(name: "interrupted", value: .bool(outcome.isInterrupted)),
            .init(name: "start", value: .string(TimeArgument.text(outcome.start))),
            .init(name: "end", value: .string(TimeArgument.text(outcome.end))),
            .init(name: "next", value: JSONValue(outcome.next.map(TimeArgument.text))),
            .init(name: "stored", value: .integer(outcome.storedBytes)),
            .init(name: "removed", value: JSONValue(outcome.removed)),
            .init(name: "verified", value: JSONValue(outcome.verified)),
            .init(
                name: "snapshots",
                value: .array(
                    outcome.stored.map {
                        [
                            "source": .string($0.source), "database": .string($0.database), "id": .string($0.snapshot),
                            "size": .integer($0.size), "changed": .integer($0.changed), "stored": .integer($0.stored),
                        ]
                    })),
            .init(name: "failures", value: .array(outcome.problems.map(json))),
        ]
    }

    static func json(_ problem: JobState.Problem) -> JSONValue {
        .object(
            [
                .init(name: "step", value: .string(problem.step)), .init(name: "code", value: .string(problem.code)),
                .init(name: "message", value: .string(problem.message)),
            ]
                + (problem.source.map { [.init(name: "path", value: .string($0))] } ?? [])
                + (problem.limit.map { [.init(name: "limit", value: .string($0))] } ?? [])
                + (problem.remedy.map { [.init(name: "remedy", value: .string($0))] } ?? []))
    }

    /// `hourly: 12 databases, 3.4 MB stored in 2.1 s; 1 failure`.
    static func line(_ outcome: JobOutcome) -> String {
        let seconds = outcome.end.timeIntervalSince(outcome.start)
        var line =
            "\(outcome.job): \(Wording.count(outcome.stored.count, "database")), "
            + "\(Wording.size(outcome.storedBytes)) stored in \(Wording.duration(seconds))"
        if outcome.removed > 0 { line += ", \(Wording.count(outcome.removed, "old snapshot")) removed" }
        if let verified = outcome.verified { line += verified ? ", verified" : ", verification FAILED" }
        if !outcome.problems.isEmpty { line += "; \(Wording.count(outcome.problems.count, "failure"))" }
        return line
    }

    static func line(_ problem: JobState.Problem) -> String {
        let path = problem.source.map { "\($0): " } ?? ""
        return Wording.visible("  FAILED \(problem.step): \(path)\(problem.message)")
    }
}
