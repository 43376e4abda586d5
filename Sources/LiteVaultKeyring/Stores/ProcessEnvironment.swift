internal import Foundation
internal import LiteVaultSupport

/// Reads variables of the environment. Whoever changes the environment in another thread at the same time is on their own, as
/// with all of C.
enum ProcessEnvironment {
    /// The value of a variable; nil when it is not set or empty.
    static func value(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Takes a secret out of the environment; nil when the variable is not set or empty.
    ///
    /// `unsetenv` removes only the pointer: the bytes would stay readable in `/proc/PID/environ`, so they are wiped.
    static func take(_ name: String) throws -> SecretBuffer? {
        guard let value = getenv(name), value.pointee != 0 else { return nil }
        let buffer = SecretBuffer()
        try secretMemory { try buffer.fill(takingOver: value) }
        unsetenv(name)
        return buffer
    }
}

/// Quotes a word for `/bin/sh`.
enum ShellWord {
    static func quoted(_ word: String) -> String {
        "'" + word.replacingOccurrences(of: "'", with: "'\\''") + "'"
    }

    /// Whether a text can be a word of a command line.
    static func isValid(_ word: String) -> Bool { !word.isEmpty && !word.utf8.contains(0) && word.utf8.count <= 1000 }
}
