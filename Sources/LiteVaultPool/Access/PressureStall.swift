internal import Foundation

/// How much tasks wait for memory, as Linux tells it: pressure stall information (the kernel's
/// `Documentation/accounting/psi.rst`), of the control group if it has its own, and of the machine.
struct PressureStall: Sendable {
    /// Where it is told. Old kernels have none of them, and some machines are started with it switched off.
    static let files = ["/sys/fs/cgroup/memory.pressure", "/proc/pressure/memory"]

    var files = Self.files

    /// In which percentage of the last ten seconds some task waited for memory: the highest that is told, nil when none is.
    func share() -> Double? {
        files.compactMap { file in
            (try? String(contentsOfFile: file, encoding: .utf8)).flatMap(Self.share)
        }.max()
    }

    /// The value of `avg10` in the line of `some`, as in `some avg10=1.25 avg60=0.40 avg300=0.09 total=182334`.
    static func share(in text: String) -> Double? {
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix("some ") }),
            let word = line.split(separator: " ").first(where: { $0.hasPrefix("avg10=") })
        else { return nil }
        return Double(word.dropFirst("avg10=".count))
    }
}
