/// How results, failures and warnings leave the process: as text or as JSON.
protocol Reporter: Sendable {
    /// The result of a command, to standard output.
    func report(_ report: Report, of command: String) throws(Failure)
    /// The failure that ends the process, to standard error.
    func failure(_ failure: Failure)
    /// Something worth knowing that ends nothing, to standard error.
    func warning(_ message: String, path: String?)
    /// How far an operation got; called as often as the operation likes.
    func progress(_ state: ProgressState)
}

extension Reporter {
    func warning(_ message: String) { warning(message, path: nil) }
}
