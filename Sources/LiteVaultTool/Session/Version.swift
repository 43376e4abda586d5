internal import LiteVault

/// The versions of the tool and of the linked engine.
enum Version {
    static let number = "0.1.0"

    /// `litevault 0.1.0 (SQLCipher 4.6.1, SQLite 3.46.1)`, and a line for each known defect of the engine.
    static var text: String {
        (["litevault \(number) (\(libraries.joined(separator: ", ")))"] + defects.map { "engine defect \($0)" }).joined(
            separator: "\n")
    }

    static var engine: Members {
        [
            "sqlite": sqlite, "sqlcipher": Nullable(sqlcipher),
            "defects": EngineInfo.linked.defects.map(\.rawValue).sorted(),
        ]
    }

    static var defects: [String] {
        EngineInfo.linked.defects.sorted { $0.rawValue < $1.rawValue }.map { defect in
            switch defect {
            case .walReset:
                "wal-reset: several processes that write to one database in WAL mode may lose commits; "
                    + "fixed in SQLite 3.51.3 and SQLCipher 4.14.0"
            }
        }
    }

    /// The linked SQLite: `3.46.1`.
    static var sqlite: String {
        let version = EngineInfo.linked.sqliteVersion
        return "\(version.major).\(version.minor).\(version.point)"
    }

    private static var sqlcipher: String? {
        guard case .sqlcipher(let version) = EngineInfo.linked.encryption else { return nil }
        return version
    }

    /// The linked libraries, for text output.
    static var libraries: [String] {
        sqlcipher.map { ["SQLCipher \($0)", "SQLite \(sqlite)"] } ?? ["SQLite \(sqlite)", "no encryption"]
    }
}
