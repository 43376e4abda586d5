internal import LiteVaultCore
internal import LiteVaultSystem

/// A recovery code: 160 random bits in eight groups, such as `7QK2M-…`, to be printed and locked away.
///
/// Each group ends in a check character, so that a typing error is found, with its group, before anything is derived. Case,
/// spaces and hyphens do not matter; O counts as 0, I and L as 1.
public struct RecoveryCode: Sendable {
    static let groups = 8
    private static let digits = 4
    static let length = 20
    /// Crockford's alphabet: no I, L, O, U.
    private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ".utf8)

    package let secret: KeyMaterial

    /// Generates a code.
    ///
    /// - Throws: `VaultError` when there is no memory.
    public static func random() throws -> RecoveryCode { RecoveryCode(secret: try .random(count: length)) }

    private init(secret: KeyMaterial) { self.secret = secret }

    package init(bytes: KeyMaterial) throws {
        guard bytes.count == Self.length else { throw VaultError(.keyMaterialRejected, "A recovery code has 160 bits") }
        secret = bytes
    }

    /// Reads a code that a person typed.
    ///
    /// - Throws: `VaultError` `keyRejected` with the number of the first group that is wrong.
    public init(contentsOf text: UnsafeRawBufferPointer) throws {
        var problem: VaultError?
        secret = try KeyMaterial(count: Self.length) { problem = Self.decode(text, into: $0) }
        if let problem { throw problem }
    }

    /// Reads a code that a person typed.
    ///
    /// - Throws: as ``init(contentsOf:)``.
    public init(_ text: String) throws {
        var text = text
        self = try text.withUTF8 { try RecoveryCode(contentsOf: UnsafeRawBufferPointer($0)) }
    }

    /// Runs `body` with the text of the code, `XXXXX-XXXXX-…`, in memory that is wiped afterwards.
    public func withText<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) throws -> Result {
        let width = Self.digits + 2
        let text = try KeyMaterial(count: Self.groups * width - 1) { text in
            secret.withBytes { bytes in
                for group in 0..<Self.groups {
                    var sum = group
                    for position in 0..<Self.digits {
                        let value = Self.value(of: bytes, at: group * Self.digits + position)
                        sum += (2 * position + 1) * value
                        text[group * width + position] = Self.alphabet[value]
                    }
                    text[group * width + Self.digits] = Self.alphabet[sum % 32]
                    if group < Self.groups - 1 { text[group * width + Self.digits + 1] = UInt8(ascii: "-") }
                }
            }
        }
        return try text.withBytes(body)
    }

    /// The 5 bits of a digit, the first ones of the bytes first.
    private static func value(of bytes: UnsafeRawBufferPointer, at index: Int) -> Int {
        (0..<5).reduce(0) { value, bit in
            let position = 5 * index + bit
            return value << 1 | Int(bytes[position / 8] >> (7 - position % 8) & 1)
        }
    }

    /// - Returns: what is wrong with the text.
    private static func decode(_ text: UnsafeRawBufferPointer, into bytes: UnsafeMutableRawBufferPointer) -> VaultError?
    {
        var count = 0
        var sum = 0
        for byte in text where byte != UInt8(ascii: "-") && byte != UInt8(ascii: " ") {
            let group = count / (digits + 1)
            let position = count % (digits + 1)
            guard let value = value(of: byte), group < groups else { return wrong(min(group, groups - 1)) }
            if position == 0 { sum = group }
            if position == digits {
                guard value == sum % 32 else { return wrong(group) }
            } else {
                sum += (2 * position + 1) * value
                let start = 5 * (group * digits + position)
                for bit in 0..<5 where value >> (4 - bit) & 1 == 1 {
                    bytes[(start + bit) / 8] |= 1 << UInt8(7 - (start + bit) % 8)
                }
            }
            count += 1
        }
        return count == groups * (digits + 1) ? nil : wrong(count / (digits + 1))
    }

    private static func value(of character: UInt8) -> Int? {
        switch character {
        case UInt8(ascii: "a")...UInt8(ascii: "z"): value(of: character - 32)
        case UInt8(ascii: "O"): 0
        case UInt8(ascii: "I"), UInt8(ascii: "L"): 1
        default: alphabet.firstIndex(of: character)
        }
    }

    private static func wrong(_ group: Int) -> VaultError {
        VaultError(
            .keyMaterialRejected, "The recovery code has a typing error in group \(group + 1), or is not complete",
            remedy: "It has \(groups) groups of \(digits + 1) characters.")
    }
}
