/// Texts that have broken out of literals, names, comments or lines, or that readers and Swift take for different ones.
enum HostileText {
    static let all: [String] = marks + combined + others

    /// What means something to one of the languages.
    private static let marks = [
        "", " ", "'", "''", "\"", "\"\"", "`", "\\", "\\\\", "\\'", "\\\"", "$(id)", "`id`", "${HOME}", "$HOME", "%n",
        "%%",
        ";", "; id", "&& id", "| id", "> /dev/null", "*", "~", "#", "#\"\"\"", "\"\"\"#", "\"\"\"##", "\\#(1)", "\\(1)",
        "*/",
        "/*", "--", "-", "-x", "]", "[", "]]>", "<a>", "&amp;", "&", "=", "{", "}", "\\u0022", "\\u{22}", "\\x41",
        "\\040",
        "'; DROP TABLE t; --", "\"; DROP TABLE t; --", "' OR '1'='1", "a\"] = 1; x[\"", "\" .b", "a\".\"b", "$.a",
        "[0]", "#-1",
    ]

    /// Marks that are one character with what follows them: to Swift, no longer the mark.
    private static let combined: [String] = {
        let joiners = ["\u{301}", "\u{200D}", "\u{FE0F}", "\u{20E3}", "\u{1F3FB}", "\u{E0061}", "\u{94D}"]
        let signs = ["'", "\"", "\\", "`", "$", "%", "#", "&", "<", ";", ".", "\n", "]"]
        return signs.flatMap { sign in joiners.map { sign + $0 } }
            + [
                "a'\u{301}\\$(touch x)'\u{301}b", "'\u{301}'", "\"\u{301}\"", "\r\n\u{301}", "\\#\u{301}(1)",
                "\"\"\"\u{301}#",
            ]
    }()

    private static let others = [
        // Line breaks and other control characters.
        "a\nb", "a\r\nb", "a\rb", "\n", "\t", "a\u{B}b", "a\u{C}b", "\u{1}", "\u{7F}", "\u{1B}[2J", "\u{85}",
        "\u{9B}31m",
        "\u{2028}", "\u{2029}", "a\n*/ public let x = 1 /*",
        // The direction of text, and what is not seen.
        "\u{202E}txt.exe", "\u{202A}\u{202C}", "\u{2066}a\u{2069}", "\u{200E}\u{200F}", "\u{61C}", "\u{FEFF}a",
        "\u{200B}",
        // Two spellings of one character, and characters that are equal to one of ASCII.
        "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}", "A\u{30A}", "\u{212A}ey", "Key", "\u{37E}", "\u{1FEF}",
        "\u{1E69}", "s\u{323}\u{307}", "s\u{307}\u{323}", "\u{D55C}", "\u{1112}\u{1161}\u{11AB}",
        // Letters whose case is not that of ASCII.
        "\u{131}", "I\u{307}", "stra\u{DF}e", "STRASSE", "\u{17F}elect", "\u{FB01}",
        "\u{1F468}\u{200D}\u{1F469}\u{200D}\u{1F467}", String(repeating: "'\u{301}", count: 300),
    ]
}
