internal import LiteVaultCapture

/// Gathers what is wrong, each thing once.
final class ProblemList {
    private(set) var problems: [CheckReport.Problem] = []
    private var known: Set<CheckReport.Problem> = []

    /// Notes damage at `path`, or at the place that the error names.
    func add(_ error: BackupError, _ path: String) { add(error.path ?? path, error.message) }

    func add(_ path: String, _ message: String) {
        let problem = CheckReport.Problem(path, message)
        if known.insert(problem).inserted { problems.append(problem) }
    }
}
