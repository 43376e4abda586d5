internal import LiteVault

/// The version of the tool, with that of the engine it runs on.
enum Version {
    /// Semantic version of this package.
    static let number = "0.1.0"

    /// `litevault 0.1.0 (SQLCipher 4.6.1, SQLite 3.46.1)`.
    static var text: String { "litevault \(number) (\(engine.joined(separator: ", ")))" }

    /// The linked SQLite: `3.46.1`.
    static var sqlite: String {
        let version = EngineInfo.linked.sqliteVersion
        return "\(version.major).\(version.minor).\(version.point)"
    }

    /// The linked SQLCipher; nil without encryption.
    static var sqlcipher: String? {
        guard case .sqlcipher(let version) = EngineInfo.linked.encryption else { return nil }
        return version
    }

    /// What is linked, in words.
    static var engine: [String] {
        sqlcipher.map { ["SQLCipher \($0)", "SQLite \(sqlite)"] } ?? ["SQLite \(sqlite)", "no encryption"]
    }
}
