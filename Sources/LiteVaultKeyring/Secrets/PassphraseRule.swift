internal import LiteVaultCore
internal import LiteVaultFoundation
internal import LiteVaultSupport

/// The rule that new passphrases have to meet, and the time that deriving a key from one takes.
public enum PassphraseRule {
    /// The least number of characters.
    public static let leastLength = 12
    /// The least number of different characters.
    public static let leastDifferent = 6
    /// The least number of characters of a passphrase of digits alone.
    public static let leastDigits = 20

    /// The rule in words.
    public static let text = """
        at least \(leastLength) characters, \(leastDifferent) of them different; \(leastDigits) if there are only digits
        """

    /// Checks a new passphrase by a simple rule, which cannot tell a good passphrase, but rejects hopeless ones: at least 12
    /// characters, 6 of them different; at least 20 if there are only digits.
    ///
    /// - Throws: `VaultError` `keyRejected` when it is too weak.
    public static func check(_ passphrase: KeyMaterial) throws {
        let isGood = passphrase.withBytes { bytes in
            // Characters of UTF-8: all bytes but those that continue one.
            let count = bytes.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
            var seen = [Bool](repeating: false, count: 256)
            for byte in bytes { seen[Int(byte)] = true }
            defer { seen.withUnsafeMutableBytes { SecretMemory.wipe($0) } }
            let different = seen.reduce(0) { $0 + ($1 ? 1 : 0) }
            let isDigits = bytes.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            return count >= leastLength && different >= leastDifferent && (!isDigits || count >= leastDigits)
        }
        guard !isGood else { return }
        throw VaultError(
            .keyMaterialRejected, "The passphrase is too weak",
            remedy: "Use \(text). Several random words are easy to remember.")
    }
}

extension ScryptParameters {
    /// The parameters with which this machine takes about the given time for each guess.
    ///
    /// N is a power of two from 2^14 to 2^18, and the memory 16 to 256 MiB; a machine that is too slow for the least, or too
    /// fast for the most, gets these.
    ///
    /// - Parameter time: the time that unlocking may take, half a second by default.
    /// - Throws: `VaultError` when there is no memory.
    public static func calibrated(to time: Duration = .milliseconds(500)) throws -> ScryptParameters {
        let probe = try KeyMaterial.random()
        let salt = [UInt8](repeating: 0, count: SlotRecord.saltLength)
        let clock = ContinuousClock()
        let start = clock.now
        _ = try SlotKeyPair(passphrase: probe, .least, salt: salt)
        let taken = max((clock.now - start).seconds, 1e-6)
        var logarithm = least.logarithm
        while logarithm < most.logarithm, taken * Double(2 << (logarithm - least.logarithm)) <= time.seconds {
            logarithm += 1
        }
        return bounded(logarithm: logarithm)
    }
}
