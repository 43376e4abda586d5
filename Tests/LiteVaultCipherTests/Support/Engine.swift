import LiteVault

/// What the engine of this test run can do, for `.enabled(if:)`.
enum Engine {
    static let encrypts = EngineInfo.linked.encryption != .none
    static let format4 = CipherEngine.version?.hasFormat4 ?? false
    static let isVersion3 = encrypts && !format4

    static let lacksRawAuthenticationKey = CipherEngine.version.map { !$0.hasRawAuthenticationKey } ?? false

    /// The fixtures that this engine opens.
    static var fixtures: [Fixture] {
        guard encrypts else { return [] }
        return Fixture.format3Files + (format4 ? Fixture.format4Files : [])
    }
}
