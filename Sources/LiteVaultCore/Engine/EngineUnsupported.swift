/// The linked engine is too old for what was asked, or was built without it. Nothing was changed.
public struct EngineUnsupported: Error, CustomStringConvertible, Sendable, Equatable {
    /// What was asked for, such as "VACUUM INTO".
    public let feature: String
    /// The version that has it; nil when it depends on how the library was built.
    public let requiredVersion: SQLiteVersion?
    /// The version that is linked.
    public let linkedVersion: SQLiteVersion

    /// An error about the linked engine.
    public init(feature: String, requiredVersion: SQLiteVersion?) {
        self.feature = feature
        self.requiredVersion = requiredVersion
        linkedVersion = EngineInfo.linked.sqliteVersion
    }

    /// What is missing, what would have it, and what is linked.
    public var description: String {
        guard let requiredVersion else { return "\(feature) is not part of the linked engine (\(linkedVersion))" }
        return "\(feature) needs \(requiredVersion) or later; the linked engine is \(linkedVersion)"
    }

    /// Throws unless the linked engine is at least `version`.
    package static func require(_ major: Int, _ minor: Int, _ point: Int = 0, for feature: String) throws {
        let version = SQLiteVersion(major: major, minor: minor, point: point)
        guard EngineInfo.linked.sqliteVersion >= version else {
            throw EngineUnsupported(feature: feature, requiredVersion: version)
        }
    }
}
