internal import ArgumentParser
internal import Foundation
internal import LiteVaultBackup

/// A point in time as an argument has it: ISO 8601, in UTC where no zone is given.
enum TimeArgument {
    static func date(parsing text: String) throws -> Date {
        var full = text.replacingOccurrences(of: " ", with: "T")
        if !full.contains("T") { full += "T00:00:00" }
        let clock = full[(full.firstIndex(of: "T") ?? full.startIndex)...]
        if !clock.contains("Z"), !clock.contains("+"), !clock.contains("-") {
            if clock.split(separator: ":").count == 2 { full += ":00" }
            full += "Z"
        }
        for style in [Date.ISO8601FormatStyle(), Date.ISO8601FormatStyle(includingFractionalSeconds: true)] {
            if let date = try? style.parse(full) { return date }
        }
        throw ValidationError("a time is written 2026-11-21T12:30:00Z; without a zone it is UTC")
    }

    /// What `--at` means.
    static func selection(parsing text: String) throws -> SnapshotSelection {
        if text == "latest-reachable" { return .latestReachable }
        do { return .at(try date(parsing: text)) } catch {
            throw ValidationError(
                "a time is written 2026-11-21T12:30:00Z, without a zone it is UTC; the newest that can be had is latest-reachable"
            )
        }
    }

    /// To the millisecond, for times that somebody may want to go back to: given as an argument, it is the same time.
    static func exact(_ date: Date) -> String {
        // The text is cut off, not rounded, and binary fractions are not decimal ones.
        let time = (date.timeIntervalSince1970 * 1000).rounded() / 1000 + 0.0001
        return Date(timeIntervalSince1970: time).formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }

    /// As results show it.
    static func text(_ date: Date) -> String { date.formatted(Date.ISO8601FormatStyle()) }
}
