internal import LiteVault
internal import LiteVaultBackup

extension Failure {
    /// The failure for any error: the one place where the library's errors become the tool's.
    init(_ error: any Error) {
        switch error {
        case let failure as Failure:
            self = failure
        case let error as VaultError:
            // Every code of the library is a row of the table; one of a newer library without a row here is internal.
            self.init(
                FailureCode(rawValue: error.code.name) ?? .internal, Self.inline(error.message), path: error.path,
                remedy: error.remedy)
        case let error as BackupError:
            self.init(
                FailureCode(error.code), Self.inline(error.message), path: error.path,
                remedy: error.advice?.commandLineText)
            if let broken = error.cause as? BrokenLogError {
                times = Times(
                    wanted: broken.wanted.map(TimeArgument.exact) ?? "latest",
                    reachable: TimeArgument.exact(broken.reachable))
            }
        default:
            self.init(
                .internal, Self.inline(String(describing: error)),
                remedy: "This should not happen: please report it with the command that led to it.")
        }
    }

    /// The library writes sentences; here they follow "error: PATH: ".
    private static func inline(_ sentence: String) -> String {
        var text = sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
        // "SQLCipher" and "WAL" keep their capitals.
        let second = text.dropFirst().first
        if second.map({ $0.isLowercase || $0 == " " }) ?? true { text = text.prefix(1).lowercased() + text.dropFirst() }
        return text
    }
}

extension FailureCode {
    /// What a backup's failure is on the command line: two of its kinds have no row of their own.
    init(_ code: BackupError.Code) {
        switch code {
        case .conflict: self = .busy
        case .missing: self = .noInput
        default: self = FailureCode(rawValue: code.rawValue) ?? .internal
        }
    }
}
