import LiteVault

/// What the tests run on.
enum Engine {
    /// Whether the linked engine encrypts; the tool was built with the same one.
    static var encrypts: Bool { EngineInfo.linked.encryption != .none }
    /// Whether it writes format 4, the current one.
    static var isCurrent: Bool { (EngineInfo.linked.sqlcipherMajorVersion ?? 0) >= 4 }
}
