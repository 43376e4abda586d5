/// A version of SQLCipher, and what it can do.
package struct CipherVersion: Sendable, Comparable, CustomStringConvertible {
    package let major: Int
    package let minor: Int
    package let patch: Int

    package init(_ major: Int, _ minor: Int, _ patch: Int) {
        self.major = major
        self.minor = minor
        self.patch = patch
    }

    /// Reads what `PRAGMA cipher_version` answers: `4.6.1 community`.
    package init?(_ text: String) {
        let numbers = text.prefix { !$0.isWhitespace }.split(separator: ".").map { Int($0) }
        guard numbers.count >= 2, let major = numbers[0], let minor = numbers[1] else { return nil }
        self.init(major, minor, numbers.count > 2 ? numbers[2] ?? 0 : 0)
    }

    package static func < (left: CipherVersion, right: CipherVersion) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }

    package var description: String { "\(major).\(minor).\(patch)" }

    /// Algorithms, plaintext headers and `PRAGMA cipher_compatibility` came with 4.0 (compatibility with 4.0.1).
    package var hasFormat4: Bool { self >= CipherVersion(4, 0, 1) }
    /// `PRAGMA cipher_settings`.
    package var readsSettingsBack: Bool { self >= CipherVersion(4, 1, 0) }
    /// `PRAGMA cipher_integrity_check`.
    package var hasIntegrityCheck: Bool { self >= CipherVersion(4, 2, 0) }
    /// `PRAGMA cipher_log` and its relatives.
    package var hasLog: Bool { self >= CipherVersion(4, 5, 1) }
    /// Raw keys that bring the authentication key along.
    package var hasRawAuthenticationKey: Bool { self >= CipherVersion(4, 7, 0) }
    /// The format that the engine writes when told nothing.
    package var defaultCompatibility: Int { hasFormat4 ? 4 : 3 }
}
