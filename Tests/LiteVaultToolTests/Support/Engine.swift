import LiteVault

/// What the tests run on.
enum Engine {
    /// Whether the linked engine encrypts; the tool was built with the same one.
    static var encrypts: Bool { EngineInfo.linked.encryption != .none }
    /// Whether it says where in a statement an error is (SQLite 3.38).
    static var showsPlaces: Bool {
        let version = try? Connection(.inMemory).value("SELECT sqlite_version()", as: String.self)
        return (version?.split(separator: ".").dropFirst().first.flatMap { Int($0) } ?? 0) >= 38
    }
    /// Whether it writes format 4, the current one.
    static var isCurrent: Bool { (EngineInfo.linked.sqlcipherMajorVersion ?? 0) >= 4 }
}
