import Foundation
import LiteVault
import LiteVaultTestSupport
import Testing

import LiteVaultKeyring

/// Repeatable random numbers.
struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

@Suite struct FormatTests {
    let scratch: Scratch
    let keyring: Keyring
    let identity: KeyringIdentity
    let code: RecoveryCode

    init() throws {
        scratch = Scratch()
        keyring = Keyring(scratch.path("keys"))
        identity = try .random()
        code = try .random()
        var unlocked = try keyring.create(with: [.quick(first, name: "naïve – größer")])
        try unlocked.add(.recoveryCode(code))
        try unlocked.add(.recipient(identity.recipient()))
        try unlocked.add(.command(wrapping: ExternalCommand("cat"), unwrapping: ExternalCommand("cat")))
    }

    private func unlocks() throws -> [KeyringUnlock] {
        [try .passphrase(first), .recoveryCode(code), .identity(identity)]
    }

    @Test func `what is read is written the same`() throws {
        let bytes = try scratch.bytes("keys")
        #expect(Array(try KeyringParser.parse(bytes).text.utf8) == bytes)
    }

    @Test func `no mutated keyring of 10,000 traps, or unlocks`() throws {
        let bytes = try scratch.bytes("keys")
        let ways = try unlocks()
        var dice = Dice(state: 16)
        var parsed = 0
        for _ in 0..<10_000 {
            var mutated = bytes
            for _ in 0..<Int.random(in: 1...3, using: &dice) { mutate(&mutated, &dice) }
            guard mutated != bytes else { continue }
            // Below the file, to leave the disk alone: reading a file is tested elsewhere.
            guard let document = try? KeyringParser.parse(mutated) else { continue }
            parsed += 1
            // A cost that a mutation raised is within the limits, and not worth the minutes here.
            guard
                document.slots.allSatisfy({
                    if case .passphrase(let cost, _) = $0.parameters { cost.logarithm < 10 } else { true }
                })
            else { continue }
            for way in ways {
                let opened = Result {
                    let (_, keys, _) = try way.open(document, path: "mutated")
                    try document.verify(keys, path: "mutated")
                }
                guard case .failure(let error) = opened else {
                    Issue.record("unlocked: \(String(decoding: mutated, as: UTF8.self))")
                    return
                }
                #expect((error as? VaultError).map { [.damaged, .keyRejected].contains($0.code) } ?? false, "\(error)")
            }
        }
        #expect(parsed > 100, "too few mutations were valid files: the codes were hardly tested")
    }

    /// A bit, a digit, a line: what keeps the form as well as what breaks it.
    private func mutate(_ bytes: inout [UInt8], _ dice: inout Dice) {
        guard !bytes.isEmpty else { return }
        let index = Int.random(in: 0..<bytes.count, using: &dice)
        let digits = Array("0123456789abcdef".utf8)
        switch Int.random(in: 0..<8, using: &dice) {
        case 0: bytes[index] ^= 1 << UInt8.random(in: 0..<8, using: &dice)
        case 1: bytes.remove(at: index)
        case 2: bytes.insert(.random(in: .min ... .max, using: &dice), at: index)
        case 3: bytes.removeSubrange(index...)
        case 4, 5: bytes[index] = digits.randomElement(using: &dice) ?? 48
        default:
            var lines = bytes.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
            let one = Int.random(in: 0..<lines.count, using: &dice)
            let other = Int.random(in: 0..<lines.count, using: &dice)
            switch Int.random(in: 0..<3, using: &dice) {
            case 0: lines.swapAt(one, other)
            case 1: lines.remove(at: one)
            default: lines.insert(lines[other], at: one)
            }
            bytes = Array(lines.joined(separator: [10]))
        }
    }

    @Test func `a slot of another keyring, a removed one and a changed generation do not authenticate`() throws {
        let other = Keyring(scratch.path("other"))
        _ = try other.create(with: [.quick(second)])
        var document = try KeyringParser.parse(try scratch.bytes("keys"))
        let foreign = try KeyringParser.parse(try scratch.bytes("other"))
        func isRejected(_ document: KeyringDocument) throws {
            try Data(document.text.utf8).write(to: URL(fileURLWithPath: keyring.path))
            expect(.damaged) { try keyring.unlock(with: .passphrase(first)) }
        }
        let original = document
        document.slots[1] = foreign.slots[0]
        document.slots[1].number = 2
        try isRejected(document)
        document = original
        document.slots.removeLast()
        try isRejected(document)
        document = original
        document.generation += 1
        try isRejected(document)
        document = original
        document.slots[0].name = "other"
        try isRejected(document)
        document = original
        document.slots[0].publicKey = document.slots[1].publicKey
        try Data(document.text.utf8).write(to: URL(fileURLWithPath: keyring.path))
        expect(.keyRejected) { try keyring.unlock(with: .passphrase(first)) }
    }

    @Test(arguments: [
        ("scrypt 4 8 1", "scrypt 21 8 1"), ("scrypt 4 8 1", "scrypt 20 8 1"), ("scrypt 4 8 1", "scrypt 18 16 1"),
        ("scrypt 4 8 1", "scrypt 18 8 2"), ("scrypt 4 8 1", "scrypt 4 8 5"), ("scrypt 4 8 1", "scrypt 3 8 1"),
        ("scrypt 4 8 1", "scrypt 4 0 1"), ("scrypt 4 8 1", "scrypt 04 8 1"),
        ("scrypt 4 8 1", "scrypt 9999999999999999999 8 1"), ("scrypt 4 8 1", "scrypt 99999999999999999999 8 1"),
        ("generation 4", "generation 0"), ("generation 4", "generation 9223372036854775808"),
        ("generation 4", "generation 18446744073709551616"), ("generation 4", "generation 04"),
        ("slot 2 ", "slot 1 "), ("slot 2 ", "slot 4294967296 "), ("slot 2 recovery", "slot 2 recipient"),
        ("slot 2 recovery", "slot 2 fingerprint"), ("public ", "public 00"),
    ])
    func `what exceeds the limits is rejected before anything is derived`(old: String, new: String) throws {
        let text = String(decoding: try scratch.bytes("keys"), as: UTF8.self)
        let changed = text.replacingOccurrences(of: old, with: new)
        try #require(changed != text)
        #expect(throws: KeyringParser.Problem.self) { try KeyringParser.parse(Array(changed.utf8)) }
        try Data(changed.utf8).write(to: URL(fileURLWithPath: keyring.path))
        expect(.damaged) { try keyring.unlock(with: .passphrase(first)) }
    }

    @Test func `the limits of scrypt hold memory and time`() {
        for logarithm in 0...40 {
            for blockSize in 0...40 {
                for parallelism in 0...8 {
                    guard
                        let cost = ScryptParameters(
                            logarithm: logarithm, blockSize: blockSize, parallelism: parallelism)
                    else { continue }
                    #expect(cost.memory <= 256 << 20)
                    #expect(cost.cost * blockSize * parallelism <= 1 << 21)
                }
            }
        }
        #expect(ScryptParameters(logarithm: 18, blockSize: 8, parallelism: 1) == .most)
    }

    @Test func `a file of another kind and a keyring of a newer version are told apart, and neither is opened`() throws
    {
        let bytes = try scratch.bytes("keys")
        for (start, code, message) in [
            ("litevault-keyring 3\n", VaultError.Code.unsupported, "newer version"),
            ("litevault-keyring 12\n", .unsupported, "newer version"),
            ("SQLite format 3\0", .damaged, "does not begin with"), ("", .damaged, "does not begin with"),
            ("litevault-keyring x\n", .damaged, "line 1"), ("litevault-keyring 1", .damaged, "newline"),
        ] {
            try Data(Array(start.utf8) + (start.hasSuffix("\n") ? bytes : [])).write(
                to: URL(fileURLWithPath: keyring.path))
            do {
                _ = try keyring.slots()
                Issue.record("read: \(start)")
            } catch let error as VaultError {
                #expect(error.code == code && error.message.contains(message), "\(start): \(error)")
            }
            #expect(throws: VaultError.self) { try keyring.unlock(with: .passphrase(first)) }
        }
    }

    @Test func `something that is not a small regular file is rejected`() throws {
        try scratch.write(String(repeating: "x\n", count: 1 << 18), to: "large")
        expect(.damaged) { try Keyring(scratch.path("large")).slots() }
        expect(.wrongKind) { try Keyring(scratch.directory).slots() }
        #expect(mkfifo(scratch.path("fifo"), 0o600) == 0)
        expect(.wrongKind) { try Keyring(scratch.path("fifo")).slots() }
    }

    @Test func `H-SEC-11: passphrase slots that would together take minutes are rejected before any is tried`() throws {
        var document = try KeyringParser.parse(scratch.bytes("keys"))
        var slot = try #require(document.slots.first)
        guard case .passphrase(_, let salt) = slot.parameters else {
            Issue.record("not a passphrase")
            return
        }
        slot.parameters = .passphrase(.most, salt: salt)
        func text(_ count: UInt32) -> [UInt8] {
            document.slots = (1...count).map { number in
                slot.number = number
                return slot
            }
            return Array(document.text.utf8)
        }
        #expect(throws: Never.self) { try KeyringParser.parse(text(8)) }
        #expect(throws: KeyringParser.Problem.self) { try KeyringParser.parse(text(9)) }
        // Nor is one written.
        document = try KeyringParser.parse(text(8))
        expect(.usage) { try document.add(.quick(second), keys: [], endorsing: nil) }
    }

    @Test func `names cannot move the cursor`() throws {
        var unlocked = try keyring.unlock(with: .passphrase(first))
        for name in ["a\nb", "\u{1B}[2J", "\u{202E}x", String(repeating: "x", count: 101), "a\0"] {
            expect(.usage) { try unlocked.add(.quick(second, name: name)) }
        }
    }
}
