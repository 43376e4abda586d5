internal import LiteVaultQuoting

/// Reads one statement by SQLite's grammar (https://sqlite.org/syntaxdiagrams.html).
///
/// It is for statements that the engine compiles as well, so it accepts some that the engine refuses. What the engine accepts
/// and this does not understand is an error: nothing is passed over.
struct Parser {
    private let bytes: [UInt8]
    private let tokens: [Token]
    private var position = 0
    /// How deep expressions and subqueries are nested. The engine takes 1000 levels, too.
    private var depth = 0

    /// The parameters, each time that one occurs.
    private(set) var parameters: [Occurrence] = []
    /// The names of common tables, and of subqueries and calls in FROM.
    private(set) var derived: Set<SQLName> = []
    /// What the statement needs of newer engines.
    private(set) var needs: [EngineNeed] = []

    /// A parameter at one place.
    struct Occurrence: Sendable {
        /// With its sign: `:name`.
        let name: String
        let range: Range<Int>
        /// The only member of `IN (…)`.
        let isList: Bool
    }

    /// A parser of the tokens of a text.
    init(_ bytes: [UInt8], _ tokens: [Token]) {
        self.bytes = bytes
        self.tokens = tokens
    }

    mutating func statement() throws(SQLSyntaxError) -> Statement {
        let with = try with()
        let statement: Statement
        switch current.text {
        case "SELECT", "VALUES": statement = .select(try select(with))
        case "INSERT", "REPLACE": statement = .insert(try insert(with))
        case "UPDATE", "DELETE": statement = .change(try change(with))
        default:
            throw SQLSyntaxError(
                current.range.lowerBound, "only SELECT, VALUES, INSERT, REPLACE, UPDATE and DELETE can be checked")
        }
        guard current.isEnd else { throw unexpected() }
        return statement
    }
}

// MARK: Tokens

extension Parser {
    var current: Token { tokens[position] }

    func token(after distance: Int) -> Token { tokens[min(position + distance, tokens.count - 1)] }

    /// The end of the token before the current one.
    var lastEnd: Int { position > 0 ? tokens[position - 1].range.upperBound : 0 }

    mutating func advance(by count: Int = 1) { position = min(position + count, tokens.count - 1) }

    /// Skips keywords and signs if all of them come next, in this order.
    mutating func skip(_ words: String...) -> Bool {
        for (index, word) in words.enumerated() where !token(after: index).matches(word) { return false }
        advance(by: words.count)
        return true
    }

    mutating func require(_ words: String...) throws(SQLSyntaxError) {
        for word in words { guard skip(word) else { throw unexpected() } }
    }

    /// A name, in quotes or not.
    mutating func name() throws(SQLSyntaxError) -> String {
        guard current.kind == .word || current.kind == .quotedName || current.kind == .text else { throw unexpected() }
        defer { advance() }
        // The text of a word is in upper case.
        return current.kind == .word ? String(decoding: bytes[current.range], as: UTF8.self) : current.text
    }

    /// Names in parentheses; none without parentheses.
    mutating func names() throws(SQLSyntaxError) -> [String] {
        guard skip("(") else { return [] }
        let names = try list { parser throws(SQLSyntaxError) in try parser.name() }
        try require(")")
        return names
    }

    /// Elements that commas separate.
    mutating func list<T>(
        _ element: (inout Parser) throws(SQLSyntaxError) -> T
    ) throws(SQLSyntaxError) -> [T] {
        var elements = [try element(&self)]
        while skip(",") { elements.append(try element(&self)) }
        return elements
    }

    mutating func parenthesized<T>(
        _ content: (inout Parser) throws(SQLSyntaxError) -> T
    ) throws(SQLSyntaxError) -> T {
        try require("(")
        let result = try content(&self)
        try require(")")
        return result
    }

    mutating func nested<T>(_ content: (inout Parser) throws(SQLSyntaxError) -> T) throws(SQLSyntaxError) -> T {
        depth += 1
        defer { depth -= 1 }
        guard depth < 1000 else { throw SQLSyntaxError(current.range.lowerBound, "the statement is nested too deeply") }
        return try content(&self)
    }

    func unexpected() -> SQLSyntaxError {
        let what = current.isEnd ? "the end of the statement" : "'\(current.text)'"
        return SQLSyntaxError(current.range.lowerBound, "\(what) is not understood here")
    }

    mutating func note(parameter token: Token, isList: Bool) {
        parameters.append(Occurrence(name: token.text, range: token.range, isList: isList))
    }

    mutating func note(derived name: String?) { if let name { derived.insert(SQLName(name)) } }

    /// Notes that the current token needs the version that has a feature.
    mutating func need(_ feature: SQLFeature) {
        needs.append(EngineNeed(feature: feature, offset: current.range.lowerBound))
    }

    /// Notes what a function needs. JSON counts as had: engines of any version may have it.
    mutating func need(function name: String) {
        guard let minor = SQLFunctions.minorVersion(of: name), !name.hasPrefix("json") || minor > 38 else { return }
        need(SQLFeature("the function \(name)()", minor))
    }
}

/// A version of SQLite: 3.35.
struct EngineVersion: Comparable, Sendable, CustomStringConvertible {
    let major: Int
    let minor: Int

    init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Reads `3.35` or `3.35.4`; nil for anything else.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2 || parts.count == 3, let major = parts[0], let minor = parts[1], parts.last != .some(nil)
        else { return nil }
        self.init(major, minor)
    }

    static func < (one: EngineVersion, other: EngineVersion) -> Bool {
        (one.major, one.minor) < (other.major, other.minor)
    }

    var description: String { "\(major).\(minor)" }
}

/// Something that older engines do not have.
struct EngineNeed: Sendable {
    let feature: SQLFeature
    /// Where it is needed, in bytes.
    let offset: Int

    var version: EngineVersion { EngineVersion(3, feature.minorVersion) }
}
