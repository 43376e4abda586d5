import LiteVaultQuoting
import Testing

/// What is read from units of systemd is what systemd reads.
@Suite struct SystemdReadingTests {
    @Test(arguments: HostileText.all)
    func `a word that was written for a command is read as it was`(text: String) {
        // A NUL has no place in a word, and is left out.
        let word = String(decoding: text.utf8.filter { $0 != 0 }, as: UTF8.self)
        let command = "/usr/bin/x \(Quoting.systemdWord(word, isCommand: true)) y"
        let words = Quoting.systemdWords(of: command) ?? []
        #expect(words.map { Array($0.utf8) } == ["/usr/bin/x", word, "y"].map { Array($0.utf8) }, "\(command)")
    }

    @Test(
        arguments: [
            ("a  \"b c\"\t'd \"e\"' f\"g h\"i", ["a", "b c", "d \"e\"", "fg hi"]),
            (
                #"a\x20b \141\142 \s\t \"q\" \u00e9 \U0001F511 \q \x4 \400"#,
                ["a b", "ab", " \t", "\"q\"", "é", "🔑", "\\q", "\\x4", "\\400"]
            ),
            ("100%% $$HOME %% %%%% %n ${X}", ["100%", "$HOME", "%", "%%", "%n", "${X}"]),
            ("\"\" '' \\", ["", "", "\\"]),
            ("", []),
        ])
    func `quotes, escapes and doubled signs are read as systemd reads them`(command: String, words: [String]) {
        #expect(Quoting.systemdWords(of: command) == words)
    }

    @Test(arguments: ["\"a b", "a 'b", "a\"", "'a\\'"])
    func `a quote that is not closed makes no command`(command: String) {
        #expect(Quoting.systemdWords(of: command) == nil)
    }

    @Test func `settings are read without comments, and continued lines are joined`() {
        let file = """
            # a comment = x
            [Service]
              ; another = one
             ExecStart = /usr/bin/x \\
            # inside = of it

              a b  \u{20}
            Path=C:\\\\
            ExecStart=
            Environment=A=1
            no sign
            User=\\
            """
        let settings = Quoting.systemdSettings(in: file)
        #expect(settings.map(\.name) == ["ExecStart", "Path", "ExecStart", "Environment", "User"])
        #expect(settings.map(\.value) == ["/usr/bin/x    a b", "C:\\\\", "", "A=1", ""])
        #expect(Quoting.systemdSettings(in: "").isEmpty)
    }
}
