import LiteVault
import Testing

@Suite struct DatabaseKeyTests {
    static let digits = String(repeating: "0f", count: 32)

    private func engineText(_ key: DatabaseKey) throws -> String {
        try key.withEngineBytes { String(decoding: $0, as: UTF8.self) }
    }

    @Test func `an empty passphrase is refused`() {
        #expect(throws: VaultError.self) { try DatabaseKey.passphrase("") }
        #expect(throws: VaultError.self) { try DatabaseKey.passphrase([UInt8]()) }
    }

    @Test(arguments: ["x", "X"], [64, 96, 160])
    func `a passphrase that looks like a raw key is refused unless asked for`(x: String, count: Int) throws {
        let literal = "\(x)'\(String(repeating: "a", count: count))'"
        let error = #expect(throws: VaultError.self) { try DatabaseKey.passphrase(literal) }
        #expect(error?.code == .keyRejected)
        let key = try DatabaseKey.passphrase(literal, allowingRawKeyLiteral: true)
        #expect(try engineText(key) == literal.lowercased())
    }

    @Test func `a look-alike that only the oldest engine takes for a raw key is refused as well`() {
        let noHex = "x'" + String(repeating: "z", count: 65)
        #expect(throws: VaultError.self) { try DatabaseKey.passphrase(noHex) }
        let noQuote = "x'" + String(repeating: "a", count: 65)
        #expect(throws: VaultError.self) { try DatabaseKey.passphrase(noQuote) }
    }

    @Test(arguments: [62, 63, 65, 66, 98, 128])
    func `a literal of a length that no engine knows stays a passphrase`(count: Int) throws {
        let text = "x'\(String(repeating: "a", count: count))'"
        #expect(try engineText(.passphrase(text)) == text)
    }

    @Test func `a passphrase keeps its NUL bytes and everything else`() throws {
        let bytes: [UInt8] = [0x61, 0, 0x62, 0xff, 0xc3]
        #expect(try DatabaseKey.passphrase(bytes).withEngineBytes { Array($0) } == bytes)
    }

    @Test func `a raw key reaches the engine as a literal`() throws {
        let key = [UInt8](repeating: 15, count: 32)
        #expect(try engineText(.raw(key)) == "x'\(Self.digits)'")
        #expect(try engineText(.hex(Self.digits.uppercased())) == "x'\(Self.digits)'")
        let salted = try DatabaseKey.raw(key, salt: [UInt8](repeating: 1, count: 16))
        #expect(try engineText(salted) == "x'\(Self.digits)\(String(repeating: "01", count: 16))'")
        #expect(salted.salt == [UInt8](repeating: 1, count: 16))
    }

    @Test(arguments: ["", "0f", String(repeating: "0", count: 63), String(repeating: "g", count: 64)])
    func `hexadecimal of another length or alphabet is refused`(digits: String) {
        let error = #expect(throws: VaultError.self) { try DatabaseKey.hex(digits) }
        #expect(error?.code == .keyRejected)
    }

    @Test(arguments: [0, 16, 31, 33, 48]) func `a raw key of another length is refused`(count: Int) {
        #expect(throws: VaultError.self) { try DatabaseKey.raw([UInt8](repeating: 7, count: count)) }
    }

    @Test func `printing, dumping and reflecting a key shows nothing of it`() throws {
        let key = try DatabaseKey.passphrase("correct horse")
        var dumped = ""
        dump(key, to: &dumped)
        let interpolated = "\(key) \(String(reflecting: key)) \(String(describing: [key]))"
        for text in [dumped, interpolated] {
            #expect(!text.contains("correct"))
            #expect(!text.contains("99"))
        }
        #expect(Mirror(reflecting: key).children.isEmpty)
        #expect(key.description == "<redacted>")
    }

    @Test func `keys are equal when form and bytes are`() throws {
        let raw = try DatabaseKey.hex(Self.digits)
        #expect(raw.equals(try .hex(Self.digits)))
        #expect(!raw.equals(try .hex(String(Self.digits.reversed()))))
        #expect(!raw.equals(try .passphrase(Self.digits)))
    }
}
