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

    /// What a function needs, by its name; nil for those that all engines have.
    static func function(_ name: String, at offset: Int) -> EngineNeed? {
        functions[name].map { EngineNeed(version: $0, feature: "the function \(name)()", offset: offset) }
    }

    /// From https://sqlite.org/changes.html.
    private static let functions: [String: EngineVersion] = {
        let added: [(EngineVersion, String)] = [
            (.init(3, 20), "sqlite_offset"),
            (
                .init(3, 25),
                "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value"
            ),
            (.init(3, 32), "iif"), (.init(3, 34), "substring"),
            (
                .init(3, 35),
                "sign acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 "
                    + "mod pi pow power radians sin sinh sqrt tan tanh trunc"
            ),
            (.init(3, 38), "unixepoch format"), (.init(3, 41), "unhex"), (.init(3, 43), "timediff octet_length"),
            (.init(3, 42), "json_error_position"), (.init(3, 44), "concat concat_ws string_agg"),
            (
                .init(3, 45),
                "jsonb jsonb_array jsonb_extract jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace "
                    + "jsonb_set jsonb_group_array jsonb_group_object"
            ),
            (.init(3, 47), "json_pretty"), (.init(3, 48), "if"), (.init(3, 50), "unistr unistr_quote"),
        ]
        var versions: [String: EngineVersion] = [:]
        for (version, names) in added {
            for name in names.split(separator: " ") { versions[String(name)] = version }
        }
        return versions
    }()
}
