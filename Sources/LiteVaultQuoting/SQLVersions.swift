// What SQLite got after version 3.15, by the version that brought it (https://sqlite.org/changes.html).
//
// One table for errors of the linked engine, for code that chooses its SQL by the engine's version, and for the checks of a build tool, which
// knows no engine.

/// A part of the language.
package struct SQLFeature: Sendable {
    /// What messages call it.
    package let name: String
    /// The version 3.MINOR since which SQLite has it.
    package let minorVersion: Int

    /// A feature that is not in the table.
    package init(_ name: String, _ minorVersion: Int) { (self.name, self.minorVersion) = (name, minorVersion) }

    package static func truth(_ word: String) -> SQLFeature { .init("\(word) as a value", 23) }
    package static let upsert = SQLFeature("an upsert (ON CONFLICT … DO)", 24)
    package static let window = SQLFeature("a window function", 25)
    package static let renameColumn = SQLFeature("RENAME COLUMN", 25)
    package static let vacuumInto = SQLFeature("VACUUM INTO", 27)
    package static let extendedWindow = SQLFeature("a window that extends another one", 28)
    package static let groups = SQLFeature("a frame of GROUPS", 28)
    package static let exclude = SQLFeature("EXCLUDE of a frame", 28)
    package static let filter = SQLFeature("FILTER of an aggregate", 30)
    package static func nulls(_ place: String) -> SQLFeature { .init("NULLS \(place)", 30) }
    package static let generatedColumn = SQLFeature("a generated column", 31)
    package static let updateFrom = SQLFeature("UPDATE … FROM", 33)
    package static let returning = SQLFeature("RETURNING", 35)
    package static let dropColumn = SQLFeature("DROP COLUMN", 35)
    package static let materialization = SQLFeature("a materialization hint", 35)
    package static let upserts = SQLFeature("several ON CONFLICT clauses", 35)
    package static let strictTable = SQLFeature("a STRICT table", 37)
    package static func arrow(_ sign: String) -> SQLFeature { .init("the operator \(sign)", 38) }
    package static func join(_ kind: String) -> SQLFeature { .init("a \(kind) JOIN", 39) }
    package static let distinctFrom = SQLFeature("IS DISTINCT FROM", 39)
    package static let aggregateOrder = SQLFeature("ORDER BY among an aggregate's arguments", 44)
}

package enum SQLFunctions {
    /// The version 3.MINOR since which SQLite has a function; nil for functions that every supported engine has, and those of others.
    ///
    /// - Parameter name: in lower case.
    package static func minorVersion(of name: String) -> Int? { versions[name] }

    /// Whether it is a function of JSON, which engines may be built with before its version, and without after it.
    ///
    /// - Parameter name: in lower case.
    package static func isJSON(_ name: String) -> Bool { name.hasPrefix("json") && versions[name] != nil }

    /// The mathematical functions of version 3.35, which take numbers and return numbers.
    package static let mathematics =
        "acos acosh asin asinh atan atan2 atanh ceil ceiling cos cosh degrees exp floor ln log log10 log2 mod pi pow power radians "
        + "sin sinh sqrt tan tanh trunc"
    private static let json =
        "json json_array json_array_length json_each json_extract json_group_array json_group_object json_insert json_object "
        + "json_patch json_quote json_remove json_replace json_set json_tree json_type json_valid"

    private static let versions: [String: Int] = {
        let added: [(minor: Int, names: String)] = [
            (25, "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value"),
            (32, "iif"), (34, "substring"), (35, "sign " + mathematics), (38, "unixepoch format " + json),
            (41, "unhex"),
            (42, "json_error_position"), (43, "timediff octet_length"), (44, "concat concat_ws string_agg"),
            (
                45,
                "jsonb jsonb_array jsonb_extract jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set "
                    + "jsonb_group_array jsonb_group_object"
            ),
            (46, "json_pretty"), (48, "if"), (50, "unistr unistr_quote"), (51, "jsonb_each jsonb_tree"),
        ]
        var versions: [String: Int] = [:]
        for (minor, names) in added {
            for name in names.split(separator: " ") { versions[String(name)] = minor }
        }
        return versions
    }()
}
