/// How SQLite converts the values of a column, by its declared type (https://sqlite.org/datatype3.html#determination_of_column_affinity).
package enum SQLAffinity: String, Sendable {
    case integer = "INTEGER"
    case text = "TEXT"
    case blob = "BLOB"
    case real = "REAL"
    case numeric = "NUMERIC"

    /// The affinity of a declared type such as `VARCHAR(20)`.
    package init(_ declaredType: String) {
        let type = foldedKeyword(declaredType)
        func has(_ words: String...) -> Bool { words.contains { containsText(type, $0) } }
        if has("INT") {
            self = .integer
        } else if has("CHAR", "CLOB", "TEXT") {
            self = .text
        } else if has("BLOB") || type.allSatisfy(\.isWhitespace) {
            self = .blob
        } else {
            self = has("REAL", "FLOA", "DOUB") ? .real : .numeric
        }
    }
}

/// A CREATE VIRTUAL TABLE statement (https://sqlite.org/lang_createvtab.html).
package struct VirtualTableText {
    /// The name of the module in lower case.
    package let module: String
    /// The arguments of the module, without blanks and comments.
    package let arguments: [[SQLTokens.Token]]

    /// Returns nil for any other statement.
    package init?(_ sql: String) {
        let tokens = SQLTokens(sql).filter(\.isSignificant)
        let words = tokens.map { $0.kind == .word ? foldedKeyword($0.text) : "" }
        guard words.starts(with: ["CREATE", "VIRTUAL", "TABLE"]), let using = words.firstIndex(of: "USING"),
            using + 1 < tokens.count
        else { return nil }
        module = foldedName(tokens[using + 1].unquoted)
        arguments = tokens[(using + 2)...].dropFirst().dropLast()
            .split { $0.kind == .sign && $0.text == "," }.map(Array.init)
    }

    /// What the tables in which the module keeps its content are called after the virtual table
    /// (https://sqlite.org/vtab.html#the_xshadowname_method); nil for a module that is not the engine's own.
    package var shadows: [String]? { Self.shadows[module] }

    private static let shadows: [String: [String]] = [
        "fts3": ["content", "segments", "segdir"], "fts4": ["content", "segments", "segdir", "docsize", "stat"],
        "fts5": ["data", "idx", "content", "docsize", "config"], "rtree": ["node", "parent", "rowid"],
        "rtree_i32": ["node", "parent", "rowid"], "geopoly": ["node", "parent", "rowid"],
        "fts3tokenize": [], "fts4aux": [], "fts5vocab": [], "dbstat": [],
    ]

    /// Whether it is a full-text index without content: `content=""`.
    package var keepsNoContent: Bool {
        hasArgument("content", "=")
            && !arguments.contains { argument in
                isSameName(argument[0].unquoted, "content") && argument.count > 2 && !argument[2].unquoted.isEmpty
            }
    }

    /// Whether an argument begins with a name and this word: `content = …`, `title UNINDEXED`.
    package func hasArgument(_ name: String, _ word: String) -> Bool {
        arguments.contains { $0.count > 1 && isSameName($0[0].unquoted, name) && isSameName($0[1].text, word) }
    }
}

extension Quoting {
    /// Whether a definition in `sqlite_master` is a single CREATE statement.
    ///
    /// The engine compiles the first statement of a definition when it reads the schema, and ignores what follows. Code that runs the
    /// text would run that, too. A text with a NUL does not count as one: the engine has read it only up to there.
    package static func isSingleDefinition(_ definition: String) -> Bool {
        guard !definition.utf8.contains(0) else { return false }
        let tokens = SQLTokens(definition).filter(\.isSignificant)
        func isSemicolon(_ token: SQLTokens.Token) -> Bool { token.kind == .sign && token.text == ";" }
        func word(_ index: Int) -> String {
            index < tokens.count && tokens[index].kind == .word ? foldedKeyword(tokens[index].text) : ""
        }
        guard word(0) == "CREATE" else { return false }
        let isTemporary = word(1) == "TEMP" || word(1) == "TEMPORARY"
        guard word(isTemporary ? 2 : 1) == "TRIGGER" else {
            return tokens.drop { !isSemicolon($0) }.allSatisfy(isSemicolon)
        }
        // Each statement of a trigger ends with a semicolon, and none begins with END.
        let end = tokens.indices.dropFirst().first { word($0) == "END" && isSemicolon(tokens[$0 - 1]) }
        return end.map { tokens[($0 + 1)...].allSatisfy(isSemicolon) } ?? false
    }

    /// A definition in `sqlite_master` as a statement of a script, with its semicolon. The engine stores a comment at the end without what ends
    /// it, and the semicolon would be part of the comment.
    package static func definitionStatement(_ definition: String) -> String {
        var last: SQLTokens.Token?
        for token in SQLTokens(definition) { last = token }
        guard let last, last.kind == .comment else { return definition + ";" }
        if last.text.utf8.starts(with: "--".utf8) { return definition + "\n;" }
        let isClosed = last.text.utf8.count >= 4 && hasTextSuffix(last.text, "*/")
        return definition + (isClosed ? ";" : "*/;")
    }
}
