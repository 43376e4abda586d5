internal import LiteVault

extension Session {
    /// What operations report to: shows how far they are, and stops them when a signal came.
    var progress: OperationProgress.Report {
        let reporter = reporter
        return { state in
            try Interruption.shared.check()
            reporter.progress(
                ProgressState(phase: state.phase.rawValue, done: state.completed, total: state.total ?? 0))
        }
    }
}
