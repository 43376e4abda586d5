import LiteVault

/// What the engine of this test run can do, for `.enabled(if:)`.
enum Engine {
    static let encrypts = EngineInfo.linked.encryption != .none
    static let format4 = CipherEngine.version?.hasFormat4 ?? false
    static let isVersion3 = encrypts && !format4

    static let needsEncryption = "the linked engine does not encrypt"
    static let needsFormat4 = "the linked engine does not know the format of SQLCipher 4"
    static let needsVersion3 = "only SQLCipher 3 lacks this"

    /// The fixtures that this engine opens.
    static var fixtures: [Fixture] {
        guard encrypts else { return [] }
        return Fixture.format3Files + (format4 ? Fixture.format4Files : [])
    }
}
