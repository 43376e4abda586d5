/// The `code` of a failure, as scripts read it in `--json` output; several codes share an exit status.
enum FailureCode: String, CaseIterable {
    case `internal`
    case usage
    case damaged
    case noInput = "no-input"
    case wrongKind = "wrong-kind"
    case noEncryption = "no-encryption"
    case unsupported
    case cannotCreate = "cannot-create"
    case inputOutput = "io"
    case noSpace = "no-space"
    case busy
    case keyRejected = "key-rejected"
    case jobFailed = "job-failed"
    case config

    /// The status that the process ends with.
    var status: ExitStatus {
        switch self {
        case .internal, .jobFailed: .failed
        case .usage: .usage
        case .damaged: .damaged
        case .noInput, .wrongKind: .noInput
        case .noEncryption, .unsupported: .unsupported
        case .cannotCreate: .cannotCreate
        case .inputOutput, .noSpace: .inputOutput
        case .busy: .busy
        case .keyRejected: .keyRejected
        case .config: .config
        }
    }
}
