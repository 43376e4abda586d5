/// The cost of deriving a key from a passphrase with scrypt (RFC 7914).
///
/// The memory is `128 × 2^logarithm × blockSize` bytes, and each guess takes as long as the owner's own unlocking.
public struct ScryptParameters: Sendable, Equatable {
    /// The base-2 logarithm of the cost N.
    public let logarithm: Int
    /// The block size r.
    public let blockSize: Int
    /// The parallelism p.
    public let parallelism: Int

    /// The largest memory that a keyring file may ask for: 256 MiB.
    static let memoryLimit = 256 << 20
    /// The largest N·r·p that a keyring file may ask for: about a second of a processor of 2026.
    static let workLimit = 1 << 21
    /// The largest sum of N·r·p that the slots of one keyring may ask for: a wrong passphrase is tried with each of them.
    static let totalWorkLimit = 1 << 24
    static let logarithms = 4...20
    static let blockSizes = 1...16
    static let parallelisms = 1...4

    /// Nil for parameters beyond the limits, which no file may ask for.
    package init?(logarithm: Int, blockSize: Int, parallelism: Int) {
        guard Self.logarithms.contains(logarithm), Self.blockSizes.contains(blockSize),
            Self.parallelisms.contains(parallelism)
        else { return nil }
        // No product overflows within these ranges.
        let cells = (1 << logarithm) * blockSize
        guard 128 * cells <= Self.memoryLimit, cells * parallelism <= Self.workLimit else { return nil }
        self.logarithm = logarithm
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    private init(logarithm: Int) {
        self.logarithm = logarithm
        blockSize = 8
        parallelism = 1
    }

    /// N = 2^14 and 16 MiB: the least that is used for a new slot. For devices with little memory.
    public static let least = ScryptParameters(logarithm: 14)
    /// N = 2^17 and 128 MiB: about half a second on a processor of 2026. The default.
    public static let standard = ScryptParameters(logarithm: 17)
    /// N = 2^18 and 256 MiB, the most that a keyring may ask for.
    public static let most = ScryptParameters(logarithm: 18)

    /// What tests use, where nothing has to be hard to guess.
    package static let quick = ScryptParameters(logarithm: 4)

    /// N, the cost.
    package var cost: Int { 1 << logarithm }
    private var work: Int { cost * blockSize * parallelism }

    /// Whether the slots of a keyring ask for no more than ``totalWorkLimit``.
    static func areBounded(_ slots: [SlotRecord]) -> Bool {
        let total = slots.reduce(0) { total, slot in
            if case .passphrase(let parameters, _) = slot.parameters { total + parameters.work } else { total }
        }
        return total <= totalWorkLimit
    }

    /// The memory that a derivation takes, in bytes.
    public var memory: Int { 128 * cost * blockSize }

    /// The parameters with N between those of ``least`` and ``most``.
    static func bounded(logarithm: Int) -> ScryptParameters {
        ScryptParameters(logarithm: min(max(logarithm, least.logarithm), most.logarithm))
    }
}
