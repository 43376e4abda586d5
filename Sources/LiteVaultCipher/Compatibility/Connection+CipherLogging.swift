public import LiteVaultCore

extension Connection {
    /// How much SQLCipher writes to its log (`PRAGMA cipher_log_level`).
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
        /// Everything. Asks for ``debug`` instead: some versions of SQLCipher crash at this level.
        case trace = "TRACE"
    }

    /// Makes SQLCipher write its log to standard error, for the whole process (`PRAGMA cipher_log`). By default this
    /// library keeps it silent.
    ///
    /// - Throws: ``VaultError`` `noEncryption`; `unsupported` before SQLCipher 4.5.1.
    public func enableCipherLogging(logLevel: CipherLogLevel = .debug) throws {
        try requireLog()
        let level = logLevel == .trace ? CipherLogLevel.debug : logLevel
        #if canImport(Darwin)
            let target = "device"
        #else
            let target = "stderr"
        #endif
        try execute("PRAGMA cipher_log = '\(target)'; PRAGMA cipher_log_level = \(level.rawValue)")
        CipherLog.isWanted = level != .none
    }

    /// Ends SQLCipher's log, for the whole process.
    ///
    /// - Throws: ``VaultError`` `noEncryption`; `unsupported` before SQLCipher 4.5.1.
    public func disableCipherLogging() throws {
        try requireLog()
        CipherLog.isWanted = false
        try execute("PRAGMA cipher_log_level = NONE")
    }

    private func requireLog() throws {
        let engine = try CipherEngine.require(for: description)
        guard engine.hasLog else {
            throw VaultError(
                .unsupported, "SQLCipher \(engine), which is linked, has no log",
                remedy: "It takes SQLCipher 4.5.1 or newer.")
        }
    }
}
