internal import LiteVault

/// The version of the tool, with that of the engine it runs on.
enum Version {
    /// Semantic version of this package.
    static let number = "0.1.0"

    /// `litevault 0.1.0 (SQLCipher 4.6.1, SQLite 3.46.1)`, and a line for each defect of the engine.
    static var text: String {
        (["litevault \(number) (\(engine.joined(separator: ", ")))"] + defects.map { "engine defect \($0)" }).joined(
            separator: "\n")
    }

    /// The same for scripts.
    static var json: JSONValue {
        [
            "schema": 1, "command": "version", "version": .string(number), "engine": engineJSON,
        ]
    }

    /// What is linked, for scripts.
    static var engineJSON: JSONValue {
        [
            "sqlite": .string(sqlite), "sqlcipher": JSONValue(sqlcipher),
            "defects": .array(EngineInfo.linked.defects.map(\.rawValue).sorted().map(JSONValue.string)),
        ]
    }

    /// What is known to be wrong with the engine, a line each.
    static var defects: [String] {
        EngineInfo.linked.defects.sorted { $0.rawValue < $1.rawValue }.map { defect in
            switch defect {
            case .walReset:
                "wal-reset: several processes that write to one database in WAL mode may lose commits; "
                    + "repaired in SQLite 3.51.3 and SQLCipher 4.14.0"
            }
        }
    }

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
