internal import LiteVaultCipher
public import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

// The engine's crypto provider, license and log, as SQLite.swift has them.

extension Connection {
    /// The version of SQLCipher, such as "4.6.1 community" (`PRAGMA cipher_version`); nil without SQLCipher.
    public var cipherVersion: String? { cipherPragma("cipher_version") }

    /// Whether the crypto provider is in FIPS mode, "0" or "1" (`PRAGMA cipher_fips_status`); nil without a key.
    public var cipherFipsStatus: String? { cipherPragma("cipher_fips_status") }

    /// The name of the crypto provider, such as "openssl" (`PRAGMA cipher_provider`); nil without a key.
    public var cipherProvider: String? { cipherPragma("cipher_provider") }

    /// The version of the crypto provider (`PRAGMA cipher_provider_version`); nil without a key.
    public var cipherProviderVersion: String? { cipherPragma("cipher_provider_version") }

    private func cipherPragma(_ name: String) -> String? {
        (try? scalar("PRAGMA \(name)")).flatMap { $0 }.map { "\($0)" }
    }

    /// Sets the license code of a commercial edition of SQLCipher (`PRAGMA cipher_license`).
    ///
    /// - Throws: `VaultError` `noEncryption`; `unsupported` when the engine does not accept it. The community edition has no
    ///   licenses.
    public func applyLicense(_ license: String) throws {
        let engine = try CipherEngine.require(for: description)
        guard !license.utf8.contains(0), let answer = try scalar("PRAGMA cipher_license = \(Quoting.sqlText(license))")
        else {
            // No row: the engine does not know the pragma.
            throw VaultError(.unsupported, "The linked SQLCipher \(engine) has no licenses")
        }
        guard isSameName("\(answer)", "OK") else { throw VaultError(.unsupported, "The license was not accepted") }
    }
}

extension Connection {
    /// The verbosity of SQLCipher's log (`PRAGMA cipher_log_level`).
    public enum CipherLogLevel: String, Sendable {
        /// Nothing.
        case none = "NONE"
        /// Errors.
        case error = "ERROR"
        /// Warnings as well.
        case warn = "WARN"
        /// Messages as well.
        case info = "INFO"
        /// Everything but single steps.
        case debug = "DEBUG"
        /// Everything. ``debug`` is used instead: some versions of SQLCipher crash at this level.
        case trace = "TRACE"
    }

    /// Makes SQLCipher write its log to standard error, for the whole process (`PRAGMA cipher_log`). By default the log is
    /// off.
    ///
    /// - Throws: `VaultError` `noEncryption`; `unsupported` before SQLCipher 4.5.1.
    public func enableCipherLogging(logLevel: CipherLogLevel = .debug) throws {
        try requireLog()
        let level = logLevel == .trace ? CipherLogLevel.debug : logLevel
        try execute("PRAGMA cipher_log = '\(Platform.cipherLog)'; PRAGMA cipher_log_level = \(level.rawValue)")
        CipherLog.isWanted = level != .none
    }

    /// Switches SQLCipher's log off, for the whole process.
    ///
    /// - Throws: `VaultError` `noEncryption`; `unsupported` before SQLCipher 4.5.1.
    public func disableCipherLogging() throws {
        try requireLog()
        CipherLog.isWanted = false
        try execute("PRAGMA cipher_log_level = NONE")
    }

    private func requireLog() throws {
        let engine = try CipherEngine.require(for: description)
        guard engine.hasLog else {
            throw VaultError(
                .unsupported, "The linked SQLCipher \(engine) has no log",
                remedy: "SQLCipher 4.5.1 or newer is required.")
        }
    }
}
