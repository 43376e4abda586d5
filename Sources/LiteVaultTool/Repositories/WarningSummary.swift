internal import Foundation
internal import LiteVaultBackup

/// What is wrong in a repository beside what a command did.
extension Report {
    /// Adds the warnings to the result and shows them on standard error.
    ///
    /// - Parameter done: what was done all the same, for the failure that decides the exit status where something is damaged;
    ///   nil where the command has what it needs, and succeeds.
    mutating func add(_ warnings: [RepositoryWarning], after done: String?, _ session: Session, _ repository: String) {
        set(
            "warnings",
            .array(
                warnings.map {
                    [
                        "severity": .string($0.severity.rawValue), "code": .string(FailureCode($0.code).rawValue),
                        "path": .string($0.path), "message": .string($0.message),
                        "remedy": .string($0.advice.commandLineText),
                    ]
                }))
        for warning in warnings.prefix(20) {
            session.reporter.warning("\(warning.message). \(warning.advice.commandLineText)", path: warning.path)
        }
        if warnings.count > 20 { session.reporter.warning("and \(warnings.count - 20) more of the kind") }
        let damage = warnings.filter { $0.severity == .damage }
        guard let done, let first = damage.first(where: { $0.code == .damaged }) ?? damage.first, failure == nil else {
            return
        }
        failure = Failure(
            FailureCode(first.code), "\(done), but something in the repository is damaged: \(first.message)",
            path: first.path == repository ? repository : "\(repository)/\(first.path)",
            remedy: first.advice.commandLineText)
    }
}

/// Gathers warnings while work goes on in another thread.
final class WarningList: @unchecked Sendable {  // its lock guards `warnings`
    private let lock = NSLock()
    private var warnings: [RepositoryWarning] = []

    /// Each once.
    func add(_ warning: RepositoryWarning) {
        lock.withLock { if !warnings.contains(warning) { warnings.append(warning) } }
    }

    var all: [RepositoryWarning] { lock.withLock { warnings } }
}
