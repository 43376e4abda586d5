internal import LiteVaultCore
internal import LiteVaultSystem

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
        guard !passphrase.withBytes(isMet) else { return }
        throw VaultError(
            .keyMaterialRejected, "The passphrase is too weak",
            remedy: "Use \(text). Several random words are easy to remember.")
    }

    package static func isMet(_ passphrase: UnsafeRawBufferPointer) -> Bool {
        // Characters of UTF-8: all bytes but those that continue one.
        let count = passphrase.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : 1) }
        var seen = [Bool](repeating: false, count: 256)
        for byte in passphrase { seen[Int(byte)] = true }
        defer { seen.withUnsafeMutableBytes { SecretMemory.wipe($0) } }
        let different = seen.reduce(0) { $0 + ($1 ? 1 : 0) }
        let isDigits = passphrase.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return count >= leastLength && different >= leastDifferent && (!isDigits || count >= leastDigits)
    }

    /// The time in seconds in which all passphrases of the same length and the same kinds of characters are tried. A guess of words
    /// and names is faster.
    ///
    /// - Parameter rate: guesses in a second.
    package static func exhaustion(_ passphrase: UnsafeRawBufferPointer, rate: Double) -> Double {
        // Lowercase letters, capitals, digits, other characters of ASCII, and the rest.
        var kinds: [Double] = [0, 0, 0, 0, 0]
        for byte in passphrase {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"): kinds[0] = 26
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): kinds[1] = 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): kinds[2] = 10
            case 0...0x7F: kinds[3] = 33
            default: kinds[4] = 64
            }
        }
        return pow(kinds.reduce(0, +), Double(passphrase.count)) / rate
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
