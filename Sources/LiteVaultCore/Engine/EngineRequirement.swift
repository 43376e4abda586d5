/// The engine version that a statement requires. It is determined only after the engine rejected the statement, from
/// the words of its SQL.
package enum EngineRequirement {
    /// A function that no engine has, in place of a path of JSON that an engine cannot write.
    package static let unwritableJSONKey = "json_path_with_quotation_mark"
    /// A function that no engine has, in place of a condition for the rows of a compound query.
    package static let unwritableCompound = "rows_of_a_compound_query"

    /// The error for an engine that is too old for a statement, in place of its "syntax error"; nil when no known
    /// feature is missing, or the error is a different one.
    static func unmet(by sql: String, _ error: DatabaseError) -> VaultError? {
        guard error.resultCode.primary == .error else { return nil }
        if let missing = unmetFunction(error.message) { return missing }
        // The second is the message of engines before 3.39 for RIGHT and FULL joins.
        guard error.message.contains("syntax error") || error.message.contains("not currently supported")
        else { return nil }
        let words = SQLTokens(sql).lazy.filter(\.isSignificant)
            .map { $0.isLiteral ? "" : foldedKeyword($0.text) }
        let statements = Array(words).split(separator: ";").map(Array.init)
        if let limited = statements.lazy.compactMap(unmetLimit).first { return limited }
        let needs = statements.flatMap { tokens in tokens.indices.compactMap { need(tokens, at: $0) } }
        guard let most = needs.max(by: { $0.minorVersion < $1.minorVersion }),
            SQLiteVersion(most) > EngineInfo.linked.sqliteVersion
        else { return nil }
        return VaultError.unsupported(most.name, requiredVersion: SQLiteVersion(most))
    }

    /// A function or table-valued function that an engine has from a version on, or was built without.
    private static func unmetFunction(_ message: String) -> VaultError? {
        let prefixes = ["no such function: ", "no such table: "]
        guard let prefix = prefixes.first(where: message.hasPrefix) else { return nil }
        let name = foldedName(message.dropFirst(prefix.count))
        switch name {
        case unwritableJSONKey:
            return VaultError.unsupported(
                "a JSON path with a quotation mark in a key", requiredVersion: .init(major: 3, minor: 45))
        case unwritableCompound:
            return VaultError(
                .unsupported, "UPDATE and DELETE cannot write the rows of a UNION, INTERSECT or EXCEPT",
                remedy: "Write the rows of a table whose keys the compound query contains.")
        default: break
        }
        let isTable = prefix == prefixes[1]
        guard let minor = SQLFunctions.minorVersion(of: name), !isTable || tableFunctions.contains(name) else {
            return nil
        }
        let version = SQLiteVersion(major: 3, minor: minor)
        let isOld = EngineInfo.linked.sqliteVersion < version
        // The engine has the function, unless it was built without: then it is one of its application.
        guard isOld || SQLFunctions.isJSON(name) else { return nil }
        return VaultError.unsupported("the function \(name)", requiredVersion: isOld ? version : nil)
    }

    private static let tableFunctions: Set = ["json_each", "json_tree", "jsonb_each", "jsonb_tree"]

    private static func need(_ tokens: [String], at index: Int) -> SQLFeature? {
        let next = index + 1 < tokens.count ? tokens[index + 1] : ""
        let afterNext = index + 2 < tokens.count ? tokens[index + 2] : ""
        switch tokens[index] {
        case "RETURNING": return .returning
        case "MATERIALIZED": return .materialization
        case "NULLS" where next == "FIRST" || next == "LAST": return .nulls(next)
        case "RIGHT" where next == "OUTER" || next == "JOIN", "FULL" where next == "OUTER" || next == "JOIN":
            return .join(tokens[index])
        case "ON" where next == "CONFLICT" && (afterNext == "(" || afterNext == "DO"): return .upsert
        case ")" where next == "FILTER" && afterNext == "(": return .filter
        default: return windowNeed(tokens, at: index, next, afterNext) ?? schemaNeed(tokens, at: index, next)
        }
    }

    private static func windowNeed(
        _ tokens: [String], at index: Int, _ next: String, _ afterNext: String
    ) -> SQLFeature? {
        switch tokens[index] {
        case "GROUPS" where next == "BETWEEN": return .groups
        case "EXCLUDE": return .exclude
        case "OVER" where next == "(" && isName(afterNext),
            "AS" where next == "(" && afterNext.isEmpty && tokens.contains("WINDOW"):
            return .extendedWindow
        case ")" where next == "OVER": return .window
        default: return nil
        }
    }

    /// Whether the first word in the parentheses of a window is the name of another one; quoted names are empty here.
    private static func isName(_ token: String) -> Bool {
        !["PARTITION", "ORDER", "ROWS", "RANGE", "GROUPS", ")"].contains(token)
    }

    private static func schemaNeed(_ tokens: [String], at index: Int, _ next: String) -> SQLFeature? {
        switch (tokens[0], tokens[index]) {
        case ("CREATE", "STRICT") where index > 0 && [")", ","].contains(tokens[index - 1]): return .strictTable
        case ("CREATE", "GENERATED") where next == "ALWAYS", ("ALTER", "GENERATED") where next == "ALWAYS":
            return .generatedColumn
        case ("ALTER", "RENAME") where next != "TO": return .renameColumn
        case ("ALTER", "DROP"): return .dropColumn
        case ("VACUUM", "INTO"): return .vacuumInto
        default: return nil
        }
    }

    /// UPDATE and DELETE accept ORDER BY and LIMIT only in a parser that was built with them.
    private static func unmetLimit(_ tokens: [String]) -> VaultError? {
        guard let first = tokens.first, first == "UPDATE" || first == "DELETE",
            !EngineInfo.linked.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT")
        else { return nil }
        var depth = 0
        for token in tokens {
            if token == "(" { depth += 1 } else if token == ")" { depth -= 1 }
            if depth == 0, token == "LIMIT" || token == "ORDER" {
                return VaultError.unsupported(
                    "\(first) with ORDER BY or LIMIT (SQLITE_ENABLE_UPDATE_DELETE_LIMIT)",
                    requiredVersion: nil)
            }
        }
        return nil
    }
}
