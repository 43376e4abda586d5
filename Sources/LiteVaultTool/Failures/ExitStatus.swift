/// The exit statuses of the command line's contract.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failed = 1
    case usage = 64
    case damaged = 65
    case noInput = 66
    case unsupported = 69
    case cannotCreate = 73
    case inputOutput = 74
    case busy = 75
    case keyRejected = 77
    case config = 78
    case interrupted = 130
    case terminated = 143

    /// The line of the table in `--help`.
    var meaning: String {
        switch self {
        case .done: "done"
        case .failed: "a failure that no other line describes"
        case .usage: "wrong arguments"
        case .damaged: "the data is damaged, or a verification failed"
        case .noInput: "the source is missing, or is not a database of the kind asked for"
        case .unsupported: "the linked engine has no encryption, or lacks what was asked for"
        case .cannotCreate: "the destination exists, has leftovers beside it, or can not be created"
        case .inputOutput: "input/output error, disk full"
        case .busy: "locked or in use by another process: try again"
        case .keyRejected: "the key is missing, wrong or malformed"
        case .config: "the configuration file is wrong"
        case .interrupted: "interrupted (SIGINT); nothing half-written is left"
        case .terminated: "terminated (SIGTERM); nothing half-written is left"
        }
    }

    /// The section that every `--help` ends with.
    static let helpSection: String = {
        let lines = allCases.map { status in
            let number = String(status.rawValue)
            return "  " + number + String(repeating: " ", count: 5 - number.count) + status.meaning
        }
        return (["EXIT STATUS:"] + lines).joined(separator: "\n")
    }()
}
