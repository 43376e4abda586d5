internal import LiteVault
internal import LiteVaultBackup
internal import LiteVaultKeyring
internal import LiteVaultSystem

/// Why a command failed. Reporters print it, and its code decides the exit status.
package struct Failure: Error, Equatable {
    package var code: FailureCode
    /// What happened: a phrase in lower case, without a full stop.
    package var message: String
    /// The file concerned.
    package var path: String?
    /// What to do next: one or more sentences.
    package var remedy: String?
    /// Lines that show the place in the text that the message is about.
    var excerpt: [String] = []
    /// That place.
    var place: Place?
    /// The times of a restore that cannot reach the wanted one.
    var times: Times?

    /// A place in a text, counted from 1.
    package struct Place: Equatable {
        let line: Int
        /// In characters.
        let column: Int
    }

    /// The wanted time, and the newest that can be restored.
    package struct Times: Equatable {
        let wanted: String
        let reachable: String
    }

    package init(_ code: FailureCode, _ message: String, path: String? = nil, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.path = path
        self.remedy = remedy
    }
}

/// The `code` of a failure in JSON output. Several codes share an exit status.
package enum FailureCode: String, CaseIterable {
    case `internal`
    case usage
    case damaged
    case noInput = "no-input"
    case wrongKind = "wrong-kind"
    case noEncryption = "no-encryption"
    case unsupported
    case cannotCreate = "cannot-create"
    case conflict
    case inputOutput = "io"
    case noSpace = "no-space"
    case busy
    case keyRejected = "key-rejected"
    case jobFailed = "job-failed"
    case config
    case promoted

    var status: ExitStatus {
        switch self {
        case .internal, .jobFailed: .failed
        case .usage: .usage
        case .damaged: .damaged
        case .noInput, .wrongKind: .noInput
        case .noEncryption, .unsupported: .unsupported
        case .cannotCreate, .conflict, .promoted: .cannotCreate
        case .inputOutput, .noSpace: .inputOutput
        case .busy: .busy
        case .keyRejected: .keyRejected
        case .config: .config
        }
    }
}

/// The exit statuses of the command line's contract.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case failed = 1
    /// Of `diff`, without a failure: the status that comparing programs have.
    static let different = failed
    /// Of `doctor`, without a failure: it found a problem.
    static let problem = failed
    case usage = 64
    case damaged = 65
    case noInput = 66
    case unsupported = 69
    case cannotCreate = 73
    case inputOutput = 74
    case busy = 75
    case keyRejected = 77
    case config = 78
    case hungUp = 129
    case interrupted = 130
    case terminated = 143

    /// The meaning, as help shows it.
    private var meaning: String {
        switch self {
        case .done: "success"
        case .failed: "a job failed, 'diff' or 'doctor' found something, or an unexpected error"
        case .usage: "wrong arguments"
        case .damaged: "data is damaged, or a verification failed"
        case .noInput: "the source is missing, or not a database of the required kind"
        case .unsupported: "the linked engine has no encryption, or lacks a required feature"
        case .cannotCreate:
            "the destination exists, has leftovers beside it, or cannot be created; a standby was promoted"
        case .inputOutput: "input/output error, or disk full"
        case .busy: "locked or in use by another process; try again"
        case .keyRejected: "the key is missing, wrong or malformed"
        case .config: "the configuration is wrong"
        case .hungUp: "the terminal was closed (SIGHUP); nothing half-written is left"
        case .interrupted: "interrupted (SIGINT); nothing half-written is left"
        case .terminated: "terminated (SIGTERM); nothing half-written is left"
        }
    }

    /// The last line of the help of each command.
    static let helpPointer = "See 'litevault help topics' for exit statuses, keys, times and JSON."

    /// Breaks a meaning where a terminal of 80 columns would, with the next line below its start.
    private static func wrapped(_ text: String) -> String {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + word.count < 72 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines.joined(separator: "\n" + String(repeating: " ", count: 7))
    }

    /// The page of the exit statuses, which is also at the end of the tool's own help.
    static let helpSection: String = {
        let lines = allCases.map { status in
            let number = String(status.rawValue)
            return "  " + number + String(repeating: " ", count: 5 - number.count) + wrapped(status.meaning)
        }
        return (["EXIT STATUS:"] + lines).joined(separator: "\n")
    }()
}

extension Failure {
    /// The failure for any error: the one place where the library's errors become the tool's.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as VaultError:
            // Where another writer was first, trying again helps. A lasting conflict says what to do about it.
            let stays = error.code == .conflict && error.remedy != nil
            self.init(
                stays ? .conflict : FailureCode(error.code), Self.phrase(error.message), path: error.path,
                remedy: error.commandLineRemedy)
            if let broken = error.cause as? BrokenLogError {
                times = Times(
                    wanted: broken.wanted.map(Format.exactTime) ?? "latest",
                    reachable: Format.exactTime(broken.reachable))
            }
        case let error as SystemError:
            self.init(.inputOutput, "the file cannot be read or written: \(error)")
        default:
            self.init(
                .internal, Self.phrase(String(describing: error)),
                remedy: "This is a bug: please report it with the command that led to it.")
        }
    }

    /// A sentence of the library as a phrase that follows "error: PATH: ".
    private static func phrase(_ sentence: String) -> String {
        var text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // "SQLCipher" and "WAL" keep their capitals.
        let second = text.dropFirst().first
        if second.map({ $0.isLowercase || $0 == " " }) ?? true { text = text.prefix(1).lowercased() + text.dropFirst() }
        return text
    }
}

extension FailureCode {
    /// The command line's code for a code of the library.
    init(_ code: VaultError.Code) {
        switch code {
        case .conflict: self = .busy
        case .missing, .databaseMissing: self = .noInput
        case .keyMissing, .keyStoreLocked, .keyringUntrusted: self = .keyRejected
        // A code that has no exit status here is internal.
        default: self = FailureCode(rawValue: code.rawValue) ?? .internal
        }
    }
}
