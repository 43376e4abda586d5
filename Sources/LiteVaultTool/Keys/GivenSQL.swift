internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting

/// A statement that a person or a script gives, on a database that is open. The engine rejects some of them, and knows neither why nor
/// what to do instead.
enum GivenSQL {
    /// Prepares or runs a statement, and explains what the engine rejects. The connection is one after `guardSettings()`.
    ///
    /// - Throws: `usage` for a pragma that would change what protects the database, `key-rejected` for an attached file that the
    ///   key of the database does not open, `unsupported` for one whose schema the engine cannot parse, `damaged` for one that is; else
    ///   what the body throws.
    static func run<T>(_ sql: String, on connection: Connection, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError {
            switch error.resultCode.primary {
            case .authorization:
                guard let pragma = connection.refusedPragma else { throw error }
                throw refusal(pragma)
            case .corrupt, .notADatabase:
                guard isAttach(sql) else { throw error }
                // The schema of the database itself was read when it was opened.
                throw notAttached(error, isEncrypted: (try? connection.hasKey()) ?? false)
            default: throw error
            }
        }
    }

    // MARK: Settings

    private static func refusal(_ pragma: ProtectedPragma) -> Failure {
        let name = Format.visible(pragma.name)
        let (reason, remedy): (String, String?) =
            switch pragma.subject {
            case .key:
                ("it is about a key", "Give keys by options, in the shell to '.open'; 'litevault rekey' changes a key.")
            case .cipherSetting: ("SQL cannot change how databases are encrypted", settingsRemedy(pragma.name))
            case .cipherLibrary: ("it concerns SQLCipher itself", nil)
            case .cipherLog:
                (
                    "SQLCipher would write statements and their values to a file, in plaintext",
                    "In the shell, '.timer on' shows how long statements take, and '.eqp on' how they are run."
                )
            case .temporaryData:
                ("the temporary data of an encrypted database stays in memory: files of it are in plaintext", nil)
            case .pageSize:
                (
                    "the page size of an encrypted database is a cipher setting",
                    "'litevault export --page-size N' makes a copy with another one. A new database gets it from"
                        + " '--create --source-page-size N'."
                )
            case .schema: ("it is not allowed here", nil)
            }
        return Failure(.usage, "PRAGMA \(name) was not run: \(reason)", remedy: remedy ?? "Leave the statement out.")
    }

    private static func settingsRemedy(_ name: String) -> String {
        if name == "cipher_migrate" { return "'litevault migrate' does it, and verifies the result." }
        if name.utf8.starts(with: "cipher_default_".utf8) {
            return
                "A new database gets them from options such as '--create --source-page-size N', in the shell of '.open'."
        }
        return
            "'litevault export' makes a copy with other settings. Options such as --compatibility and --source-page-size, in the shell"
            + " of '.open', say which ones a database has."
    }

    // MARK: Attached files

    private static func isAttach(_ sql: String) -> Bool {
        SQLTokens(sql).first { $0.isSignificant && $0.text != ";" }.map { foldedName($0.text) } == "attach"
    }

    private static func notAttached(_ error: DatabaseError, isEncrypted: Bool) -> Failure {
        // A definition in the schema was read: the file is open.
        if error.isUnreadableDefinition {
            return Failure(
                .unsupported,
                "\(EngineInfo.linked.sqliteVersion) cannot read the schema of the attached file: \(error.message)",
                remedy: "A newer version of SQLite may have written it: use that version. If none can read it, restore"
                    + " a backup of that file.")
        }
        // With a key, damage and another key look alike.
        if !isEncrypted, error.resultCode.primary == .corrupt {
            return Failure(
                .damaged, "the attached file is damaged: \(error.message)", remedy: "'litevault verify' examines it.")
        }
        return Failure(
            .keyRejected,
            isEncrypted
                ? "the key and salt of the open database do not open the attached file: it has another key, salt or"
                    + " settings, or is not encrypted"
                : "the attached file is encrypted, or is not a database",
            remedy:
                "'litevault info' says what it is. 'litevault diff' and 'litevault export' take databases with keys of their own."
        )
    }
}
