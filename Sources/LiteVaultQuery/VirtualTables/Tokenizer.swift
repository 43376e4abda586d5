internal import LiteVaultCore

/// What cuts texts into words for a full-text index (https://sqlite.org/fts3.html#tokenizer,
/// https://sqlite.org/fts5.html#tokenizers).
public struct Tokenizer: Sendable, CustomStringConvertible {
    /// Words of ASCII letters and digits, without regard to the case of A to Z. FTS4 only.
    public static let Simple = Tokenizer("simple")

    /// English words by their stems: "wondering" finds "wonder".
    public static let Porter = Tokenizer("porter")

    /// Words of ASCII letters and digits, without regard to the case of A to Z. FTS5 only.
    public static let Ascii = Tokenizer("ascii")

    /// Words as Unicode 6.1 defines letters and digits, without regard to case.
    ///
    /// - Parameters:
    ///   - removeDiacritics: whether "é" is "e"; true by default.
    ///   - tokenchars: characters that are part of words besides.
    ///   - separators: characters that are not part of words.
    public static func Unicode61(
        removeDiacritics: Bool? = nil, tokenchars: Set<Character> = [], separators: Set<Character> = []
    ) -> Tokenizer {
        var options: [Option] = []
        if let removeDiacritics { options.append(Option("remove_diacritics", removeDiacritics ? "1" : "0")) }
        if !tokenchars.isEmpty { options.append(Option("tokenchars", text(tokenchars))) }
        if !separators.isEmpty { options.append(Option("separators", text(separators))) }
        return Tokenizer("unicode61", arguments: options.map { quoted("\($0.name)=\($0.value)") }, options)
    }

    /// Every three characters, for searching parts of words. FTS5 only, SQLite 3.34 and later.
    ///
    /// - Parameter caseSensitive: whether upper and lower case differ.
    public static func Trigram(caseSensitive: Bool = false) -> Tokenizer {
        let value = caseSensitive ? "1" : "0"
        return Tokenizer("trigram", arguments: ["case_sensitive", value], [Option("case_sensitive", value)])
    }

    /// A tokenizer that the application or an extension has registered with the engine, by its name.
    public static func Custom(_ name: String) -> Tokenizer { Tokenizer(quoted(name), names: [name]) }

    /// Its name in SQL.
    public let name: String

    /// Its arguments in the form of FTS4.
    public let arguments: [String]

    struct Option: Sendable {
        let name: String
        let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// Its name, without quotes, after those of the tokenizers around it.
    let names: [String]
    let options: [Option]

    init(_ name: String, names: [String]? = nil, arguments: [String] = [], _ options: [Option] = []) {
        self.name = name
        self.names = names ?? [name]
        self.arguments = arguments
        self.options = options
    }

    /// Its name and arguments, as FTS4 takes them.
    public var description: String { ([name] + arguments).joined(separator: " ") }

    /// The same for FTS5, which takes one text of words: names, and options with names and values apart. In it a word is
    /// bare or a literal: what is neither a name nor a number, `-1` or `+1` too, has to be a literal.
    package var fts5Description: String {
        let words =
            names.map { Self.word($0, isBare: Self.isNameByte) }
            + options.flatMap { [$0.name, Self.word($0.value, isBare: Self.isDigit)] }
        return words.count == 1 && words == names ? name : quoted(words.joined(separator: " "))
    }

    private static func word(_ text: String, isBare: (UInt8) -> Bool) -> String {
        !text.isEmpty && text.utf8.allSatisfy(isBare) ? text : LiteralSQL.literal(text)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    private static func isNameByte(_ byte: UInt8) -> Bool {
        isDigit(byte) || byte == UInt8(ascii: "_") || byte >= 0x80
            || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// Sorted, so that the same set always gives the same SQL.
    static func text(_ characters: Set<Character>) -> String { String(characters.sorted()) }
}
