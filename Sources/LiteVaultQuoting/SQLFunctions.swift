/// The functions that SQLite got after version 3.15, by the version that brought them (https://sqlite.org/changes.html).
///
/// One table for two readers: errors of the linked engine, and the checks of a build tool, which knows no engine.
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
