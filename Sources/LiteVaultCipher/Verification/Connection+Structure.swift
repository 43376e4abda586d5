internal import LiteVaultCore

extension Connection {
    /// What the engine's own check of the structure comes to.
    enum Structure: Equatable {
        case sound
        case broken(String)
        /// The schema needs something that only the database's own application defines: a collation, a function.
        case unchecked(String)
    }

    /// `PRAGMA integrity_check` or `quick_check`, up to the first complaint.
    func structure(_ check: String) throws -> Structure {
        do {
            let answer = try scalar("PRAGMA \(check)") as? String ?? "no answer"
            return answer == "ok" ? .sound : .broken(answer)
        } catch let error as DatabaseError where error.needsItsApplication {
            return .unchecked(error.message)
        } catch let error as DatabaseError where [1, 7, 11, 26].contains(error.code) {
            return .broken(error.message)
        }
    }
}

extension DatabaseError {
    /// Whether the schema names a collation, function or module that this process does not have. It says nothing about
    /// the state of the file.
    var needsItsApplication: Bool {
        code == 1 && (message.hasPrefix("no such ") || message.hasPrefix("unknown function"))
    }
}
