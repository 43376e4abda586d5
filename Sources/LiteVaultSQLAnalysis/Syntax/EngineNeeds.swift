internal import LiteVaultQuoting

/// A version of SQLite: 3.35.
package struct EngineVersion: Comparable, Sendable, CustomStringConvertible {
    package let major: Int
    package let minor: Int

    package init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads `3.35` or `3.35.4`; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2 || parts.count == 3, let major = parts[0], let minor = parts[1], parts.last != .some(nil)
        else { return nil }
        self.init(major, minor)
    }

    package static func < (one: EngineVersion, other: EngineVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }

    package var description: String { "\(major).\(minor)" }
}

/// Something that older engines do not have.
package struct EngineNeed: Sendable {
    package let version: EngineVersion
    package let feature: String
    /// Where it is needed, in bytes.
    package let offset: Int

    /// What a function needs, by its name; nil for those that all engines have. JSON counts as had: engines of any version may have it.
    static func function(_ name: String, at offset: Int) -> EngineNeed? {
        guard let minor = SQLFunctions.minorVersion(of: name), !name.hasPrefix("json") || minor > 38 else { return nil }
        return EngineNeed(version: EngineVersion(3, minor), feature: "the function \(name)()", offset: offset)
    }
}
