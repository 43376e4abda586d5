internal import Foundation
internal import LiteVaultCore

/// The engine's defaults for new keys: global to the process and without a lock of their own.
///
/// ATTACH reads the schema before any PRAGMA could tell it the settings of the file, so for its duration, and only for
/// that, the defaults are the settings. Everything of this library that gives a key holds the lock meanwhile.
enum CipherDefaults {
    private static let lock = NSRecursiveLock()

    /// Runs a body with other defaults, and puts the old ones back whatever happens. Settings of which none is given
    /// change nothing, but nobody else changes the defaults meanwhile.
    static func with<T>(
        _ settings: CipherSettings, engine: CipherVersion, on connection: Connection, _ body: () throws -> T
    ) throws -> T {
        try lock.withLock {
            guard settings != CipherSettings() else { return try body() }
            let before = try current(connection, engine: engine)
            defer { for pragma in pragmas(before, engine: engine) { try? connection.execute(pragma) } }
            let wanted = PageLayout(settings, defaultCompatibility: engine.defaultCompatibility)
            for pragma in pragmas(wanted.settings, engine: engine) { try connection.execute(pragma) }
            return try body()
        }
    }

    private static let names = ["kdf_iter", "page_size", "use_hmac"]
    private static let format4Names = ["hmac_algorithm", "kdf_algorithm", "plaintext_header_size"]

    private static func current(_ connection: Connection, engine: CipherVersion) throws -> CipherSettings {
        var settings = CipherSettings()
        for name in names + (engine.hasFormat4 ? format4Names : []) {
            guard let value = try connection.scalar("PRAGMA cipher_default_\(name)") else { continue }
            settings.apply(name: name == "kdf_iter" ? name : "cipher_" + name, value: "\(value)")
        }
        return settings
    }

    private static func pragmas(_ settings: CipherSettings, engine: CipherVersion) -> [String] {
        var lines: [String] = []
        func add(_ name: String, _ value: String?) {
            if let value { lines.append("PRAGMA cipher_default_\(name) = \(value)") }
        }
        add("page_size", settings.pageSize.map { "\($0)" })
        add("use_hmac", settings.usesHMAC.map { $0 ? "ON" : "OFF" })
        add("kdf_iter", settings.kdfIterations.map { "\($0)" })
        guard engine.hasFormat4 else { return lines }
        add("hmac_algorithm", settings.hmacAlgorithm?.hmacName)
        add("kdf_algorithm", settings.kdfAlgorithm?.kdfName)
        add("plaintext_header_size", settings.plaintextHeaderSize.map { "\($0)" })
        return lines
    }
}
