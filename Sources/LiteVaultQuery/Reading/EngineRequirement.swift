internal import LiteVaultCore

/// What a statement needs of the engine. It is looked for only after the engine did not understand the statement: the
/// words of SQL tell what the engine would have to know.
enum EngineRequirement {
    /// What the linked engine lacks for a statement; nil when it lacks nothing that is known here.
    static func unmet(by sql: String) -> EngineUnsupported? {
        let words = SQLTokens(sql).lazy.filter { $0.kind != .space && $0.kind != .comment }
            .map { $0.kind == .literal ? "" : $0.text.uppercased() }
        let tokens = Array(words)
        if let limited = unmetLimit(tokens) { return limited }
        let linked = EngineInfo.linked.sqliteVersion
        let needed = tokens.indices.compactMap { requirement(tokens, at: $0) }.max { $0.version < $1.version }
        guard let needed, needed.version > linked else { return nil }
        return EngineUnsupported(feature: needed.feature, requiredVersion: needed.version)
    }

    private static func requirement(
        _ tokens: [String], at index: Int
    ) -> (feature: String, version: SQLiteVersion)? {
        let next = index + 1 < tokens.count ? tokens[index + 1] : ""
        let afterNext = index + 2 < tokens.count ? tokens[index + 2] : ""
        switch tokens[index] {
        case "RETURNING": return ("RETURNING", .init(major: 3, minor: 35))
        case "MATERIALIZED": return ("a materialization hint", .init(major: 3, minor: 35))
        case "NULLS" where next == "FIRST" || next == "LAST":
            return ("NULLS \(next)", .init(major: 3, minor: 30))
        case "RIGHT" where next == "OUTER" || next == "JOIN", "FULL" where next == "OUTER" || next == "JOIN":
            return ("a \(tokens[index]) JOIN", .init(major: 3, minor: 39))
        case "ON" where next == "CONFLICT" && (afterNext == "(" || afterNext == "DO"):
            return ("an upsert (ON CONFLICT … DO)", .init(major: 3, minor: 24))
        case ")" where next == "FILTER" && afterNext == "(":
            return ("FILTER of an aggregate", .init(major: 3, minor: 30))
        case "GROUPS" where next == "BETWEEN": return ("a frame of GROUPS", .init(major: 3, minor: 28))
        case "EXCLUDE": return ("EXCLUDE of a frame", .init(major: 3, minor: 28))
        case ")" where next == "OVER": return ("a window function", .init(major: 3, minor: 25))
        default: return nil
        }
    }

    /// UPDATE and DELETE take ORDER BY and LIMIT only from a parser that was made with them.
    private static func unmetLimit(_ tokens: [String]) -> EngineUnsupported? {
        guard let first = tokens.first, first == "UPDATE" || first == "DELETE",
            !EngineInfo.linked.hasCompileOption("ENABLE_UPDATE_DELETE_LIMIT")
        else { return nil }
        var depth = 0
        for token in tokens {
            if token == "(" { depth += 1 } else if token == ")" { depth -= 1 }
            if depth == 0, token == "LIMIT" || token == "ORDER" {
                return EngineUnsupported(
                    feature: "\(first) with ORDER BY or LIMIT (SQLITE_ENABLE_UPDATE_DELETE_LIMIT)",
                    requiredVersion: nil)
            }
        }
        return nil
    }
}

extension Connection {
    /// Does something with a statement; when the engine does not understand it and is too old for it, the error says so
    /// in place of "syntax error".
    func requiring<T>(_ sql: String, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError where error.resultCode.primary == .error {
            throw EngineRequirement.unmet(by: sql) ?? error
        }
    }
}
