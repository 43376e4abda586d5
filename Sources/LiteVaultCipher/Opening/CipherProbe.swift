internal import LiteVaultCore

/// Finds the format of an encrypted file by trying those that there were.
package enum CipherProbe {
    /// The settings under which the key opens the file: those given if they do, else the defaults of SQLCipher 4 to 1.
    ///
    /// - Throws: ``VaultError`` `keyRejected` when none does, and as by opening.
    package static func settings(
        of path: String, key: DatabaseKey, trying settings: CipherSettings = .init(), busyTimeout: Double = 0
    ) throws -> CipherSettings {
        let engine = try CipherEngine.require(for: path)
        var candidates = [settings]
        for format in [4, 3, 2, 1] where format <= engine.defaultCompatibility {
            let candidate = CipherSettings(compatibility: format)
            if format == engine.defaultCompatibility && settings == CipherSettings() { continue }
            candidates.append(candidate)
        }
        for candidate in candidates {
            do {
                _ = try Connection(
                    .existing(path), key: key, settings: candidate, readonly: false, busyTimeout: busyTimeout,
                    explainsFailure: false)
                return candidate
            } catch let error as VaultError where error.code == .keyRejected {
                continue
            }
        }
        // Once more, for the reason.
        _ = try Connection(
            .existing(path), key: key, settings: settings, readonly: false, busyTimeout: busyTimeout)
        throw VaultError(.keyRejected, "The key opens the file in none of the known formats", path: path)
    }
}
