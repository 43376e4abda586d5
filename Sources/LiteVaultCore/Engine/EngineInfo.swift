internal import CEngineSupport
internal import LiteVaultEngine

/// The linked engine and its capabilities, queried from the library that is actually loaded.
public struct EngineInfo: Sendable {
    /// Whether, and with what, the engine encrypts.
    public enum Encryption: Sendable, Equatable, CustomStringConvertible {
        /// Plain SQLite: every call that needs a key throws.
        case none
        /// SQLCipher, with the version that `PRAGMA cipher_version` reports.
        case sqlcipher(version: String)

        /// "none" or "SQLCipher 4.6.1".
        public var description: String {
            switch self {
            case .none: "none"
            case .sqlcipher(let version): "SQLCipher \(version)"
            }
        }
    }

    /// Known defects of engines that matter to their users, as far as version numbers show: a distribution may have
    /// fixed one without changing the number. New ones may be added; `switch` over them with a `default`.
    public enum Defect: String, Sendable, CaseIterable {
        /// If a checkpoint starts when the log is completely copied, while a commit of another connection resets the
        /// log, it may treat subsequent commits as copied and lose them, or leave a damaged database.
        ///
        /// SQLite 3.7.0 to 3.51.2, except for 3.44.6 and 3.50.7 and later releases of these series; SQLCipher before
        /// 4.14.0. See <doc:WALReset> for what the library does about it, and what remains.
        case walReset = "wal-reset"
    }

    /// The engine of this process.
    public static let linked = EngineInfo()

    /// `sqlite3_libversion_number()` of the loaded library.
    public let sqliteVersion: SQLiteVersion
    /// The version of the header that this code was compiled with. It may differ from the library's.
    public let headerVersion: SQLiteVersion
    /// `sqlite3_compileoption_get()`: the options the library was built with, without their `SQLITE_` prefix.
    public let compileOptions: [String]
    /// Whether the loaded library encrypts.
    public let encryption: Encryption
    /// Whether this package was compiled to encrypt (package trait `SQLCipher`).
    public let isCompiledForEncryption: Bool
    /// The known defects of the loaded library.
    public let defects: Set<Defect>
    /// `sqlite3_threadsafe()`: false for a library that must not be used by more than one thread.
    public let isThreadSafe: Bool

    private init() {
        sqliteVersion = SQLiteVersion(number: Int(sqlite3_libversion_number()))
        headerVersion = SQLiteVersion(number: Int(lv_header_version_number()))
        var options: [String] = []
        while let option = sqlite3_compileoption_get(Int32(options.count)) {
            options.append(String(cString: option))
        }
        compileOptions = options
        isCompiledForEncryption = lv_compiled_for_sqlcipher()
        isThreadSafe = sqlite3_threadsafe() != 0
        encryption = Self.detectEncryption()
        let cipher: String? = if case .sqlcipher(let version) = encryption { version } else { nil }
        defects = Self.hasWALReset(sqliteVersion, sqlcipher: cipher) ? [.walReset] : []
    }

    /// Whether the library was built with an option such as `ENABLE_FTS5`.
    public func hasCompileOption(_ name: String) -> Bool { sqlite3_compileoption_used(name) != 0 }

    package var encrypts: Bool { encryption != .none }

    /// Whether the loaded library is SQLite `major`.`minor` or later.
    package func isAtLeast(_ major: Int, _ minor: Int) -> Bool {
        sqliteVersion >= SQLiteVersion(major: major, minor: minor)
    }

    /// The major version of SQLCipher, or nil without encryption.
    public var sqlcipherMajorVersion: Int? {
        guard case .sqlcipher(let version) = encryption else { return nil }
        return version.split(separator: ".").first.flatMap { Int($0) }
    }

    /// Whether engines of these versions have ``Defect/walReset``.
    ///
    /// - Parameter sqlcipher: the start of `PRAGMA cipher_version`; nil without encryption.
    package static func hasWALReset(_ sqlite: SQLiteVersion, sqlcipher: String?) -> Bool {
        if let sqlcipher {
            let numbers = sqlcipher.split(separator: ".").prefix(2).map { Int($0) ?? 0 }
            if !numbers.lexicographicallyPrecedes([4, 14]) { return false }
        }
        guard sqlite >= SQLiteVersion(major: 3, minor: 7) else { return false }
        // The fixes of older series.
        for (minor, point) in [(44, 6), (50, 7)] where sqlite.major == 3 && sqlite.minor == minor {
            return sqlite.point < point
        }
        return sqlite < SQLiteVersion(major: 3, minor: 51, point: 3)
    }

    private static func detectEncryption() -> Encryption {
        // Queried from the library, not from the build: libsqlite3 may have been linked before libsqlcipher.
        guard lv_compiled_for_sqlcipher(), lv_key_and_open_share_a_library(),
            sqlite3_compileoption_used("HAS_CODEC") != 0
        else { return .none }
        var db: OpaquePointer?
        defer { sqlite3_close(db) }
        guard sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK else { return .none }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        guard sqlite3_prepare_v2(db, "PRAGMA cipher_version", -1, &statement, nil) == SQLITE_OK,
            sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return .none }
        // "4.6.1 community" -> "4.6.1"
        let version = String(cString: text).split(separator: " ").first.map(String.init) ?? ""
        return .sqlcipher(version: version)
    }
}

/// A version of the SQLite library, such as 3.46.1. SQLCipher reports the version of SQLite that it contains.
public struct SQLiteVersion: Comparable, CustomStringConvertible, Sendable {
    /// The first number.
    public let major: Int
    /// The second number.
    public let minor: Int
    /// The third number.
    public var point: Int = 0

    /// Creates a version from its three numbers.
    public init(major: Int, minor: Int, point: Int = 0) {
        self.major = major
        self.minor = minor
        self.point = point
    }

    package init(_ feature: SQLFeature) { self.init(major: 3, minor: feature.minorVersion) }

    /// Creates a version from a `SQLITE_VERSION_NUMBER`: 3046001 is 3.46.1.
    public init(number: Int) {
        self.init(major: number / 1_000_000, minor: number / 1000 % 1000, point: number % 1000)
    }

    /// "SQLite 3.46.1".
    public var description: String { "SQLite \(major).\(minor).\(point)" }

    /// Earlier versions come first.
    public static func < (lhs: SQLiteVersion, rhs: SQLiteVersion) -> Bool {
        (lhs.major, lhs.minor, lhs.point) < (rhs.major, rhs.minor, rhs.point)
    }
}

extension EngineInfo {
    /// What the linked engine is too old for, or was built without: the ``VaultError/cause`` of an error with the code
    /// ``VaultError/Code/unsupported``. Nothing was changed.
    public struct UnsupportedFeature: Error, CustomStringConvertible, Sendable, Equatable {
        /// What was asked for, such as "VACUUM INTO".
        public let feature: String
        /// The version that introduced it; nil when it depends on how the library was built.
        public let requiredVersion: SQLiteVersion?
        /// The linked version.
        public let linkedVersion: SQLiteVersion

        package init(_ feature: String, requiredVersion: SQLiteVersion?) {
            self.feature = feature
            self.requiredVersion = requiredVersion
            linkedVersion = EngineInfo.linked.sqliteVersion
        }

        /// The feature, what it requires, and the linked version.
        public var description: String {
            guard let requiredVersion else { return "\(feature) is not part of the linked engine (\(linkedVersion))" }
            return "\(feature) needs \(requiredVersion) or later; the linked engine is \(linkedVersion)"
        }
    }
}

extension VaultError {
    /// An error about the linked engine.
    ///
    /// - Parameter requiredVersion: the version that has it; nil when it depends on how the library was built.
    package static func unsupported(_ feature: String, requiredVersion: SQLiteVersion?) -> VaultError {
        let missing = EngineInfo.UnsupportedFeature(feature, requiredVersion: requiredVersion)
        return VaultError(.unsupported, missing.description, cause: missing)
    }
}

extension EngineInfo {
    /// Throws unless the linked engine is at least this version of SQLite.
    package static func require(_ major: Int, _ minor: Int, _ point: Int = 0, for feature: String) throws {
        let version = SQLiteVersion(major: major, minor: minor, point: point)
        guard linked.sqliteVersion >= version else {
            throw VaultError.unsupported(feature, requiredVersion: version)
        }
    }
}
