import LiteVaultQuoting
import Testing

/// What is read from units of systemd is what systemd reads.
@Suite struct SystemdReadingTests {
    private let unit = SystemdUnitName("my-back-up@srv-a\\x2db.service")

    @Test(arguments: HostileText.all)
    func `a word that was written for a command is read as it was`(text: String) throws {
        // A NUL has no place in a word, and is left out.
        let word = String(decoding: text.utf8.filter { $0 != 0 }, as: UTF8.self)
        let command = "/usr/bin/x \(Quoting.systemdWord(word, isCommand: true)) y"
        let words = try (Quoting.systemdWords(of: command) ?? []).flatMap { part in
            try Quoting.systemdWords(replacingVariablesIn: try Quoting.systemdText(part, of: unit)) { _ in "" }
        }
        #expect(words.map { Array($0.utf8) } == ["/usr/bin/x", word, "y"].map { Array($0.utf8) }, "\(command)")
    }

    @Test(
        arguments: [
            ("a  \"b c\"\t'd \"e\"' f\"g h\"i", ["a", "b c", "d \"e\"", "fg hi"]),
            (
                #"a\x20b \141\142 \s\t \"q\" \u00e9 \U0001F511 \q \x4 \400"#,
                ["a b", "ab", " \t", "\"q\"", "é", "🔑", "\\q", "\\x4", "\\400"]
            ),
            ("100%% $$HOME %n ${X}", ["100%%", "$$HOME", "%n", "${X}"]),
            ("\"\" '' \\", ["", "", "\\"]),
            ("", []),
        ])
    func `quotes and escapes are read as systemd reads them`(command: String, words: [String]) {
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

    @Test(
        arguments: [
            ("%n|%N", #"my-back-up@srv-a\x2db.service|my-back-up@srv-a\x2db"#),
            ("%p|%P|%j|%J", "my-back-up|my/back/up|up|up"), ("%i|%I|%f", #"srv-a\x2db|srv/a-b|/srv/a-b"#),
            ("%E/%S/%C/%L/%t/%h/%u", "/etc//var/lib//var/cache//var/log//run//root/root"),
            ("%%n %%%% %- %1 100%", "%n %% %- %1 100%"),
        ])
    func `specifiers are those of the unit`(text: String, expected: String) throws {
        #expect(try Quoting.systemdText(text, of: unit) == expected)
    }

    @Test func `a unit without an instance has an empty one, and its own path`() throws {
        #expect(try Quoting.systemdText("%i|%I|%f|%p", of: SystemdUnitName("srv-a.service")) == "||/srv/a|srv-a")
        #expect(SystemdUnitName("x@.service").isTemplate && SystemdUnitName("x@.service").template == nil)
        #expect(unit.template == "my-back-up@.service" && unit.isInstance)
        // The first sign divides, and the last dot ends.
        let other = SystemdUnitName("a@b@c.d.timer")
        #expect((other.prefix, other.instance, other.type) == ("a", "b@c.d", "timer"))
    }

    @Test(arguments: ["%m", "%H", "a%z", "%I"])
    func `a specifier that is not known is an error`(text: String) {
        #expect(throws: UnknownSystemdValue.self) {
            try Quoting.systemdText(text, of: SystemdUnitName(#"x@a\q.service"#))
        }
    }

    @Test func `the drop-ins of an instance are also those of its template, of its prefixes and of its type`() {
        // In the order in which `systemctl show --property=DropInPaths` of systemd 252 takes one of them after the other was removed.
        #expect(
            SystemdUnitName("a-b@x.service").dropInNames
                == ["a-b@x.service", "a-b@.service", "a-.service", "a-@x.service", "a-@.service", "service"])
        #expect(SystemdUnitName("a-b-.timer").dropInNames == ["a-b-.timer", "a-.timer", "timer"])
    }

    @Test(
        arguments: [
            ("$WORDS", ["one", "two three"]), ("${WORDS}", ["one 'two three'"]), ("a${ONE}b${ONE}", ["a1b1"]),
            ("$$ONE $$", ["$ONE $"]), ("a$ONE", ["a$ONE"]), ("$ONE/x", []), ("$", []), ("${ONE", ["${ONE"]), ("$EMPTY", []),
            ("${EMPTY}", [""]), ("$OPEN", ["a b\\c"]),
        ])
    func `variables are replaced as systemd does it`(word: String, expected: [String]) throws {
        let values = ["WORDS": "one 'two three'", "ONE": "1", "EMPTY": "", "OPEN": #""a b\\c\"#]
        #expect(try Quoting.systemdWords(replacingVariablesIn: word) { values[$0] ?? "?" } == expected)
    }

    @Test(arguments: [("a$ONE/${ONE}x $", "a1/1x $"), ("${ONE", nil), ("$(date)", nil), ("$1", nil), ("`x`", nil)])
    func `variables in a command of a shell are replaced, and nothing else is`(word: String, expected: String?) {
        #expect((try? Quoting.shellText(replacingVariablesIn: word) { _ in "1" }) == expected)
    }

    @Test func `a file of variables is read as systemd reads it`() {
        let file = """
            # A=comment \
            ; B=comment
              C = spaces around \u{20}
            D='single "quoted" \\ $x'
            E="double \\"quoted\\" \\\\ \\$x \\q"
            F=con\\
            tinued
            G="two
            lines"
            H=a\\ b\\
            not an assignment
            1=not a name
            I="joined" 'and on'
            J=
            A=last
            """
        let found = Quoting.systemdEnvironment(in: file)
        #expect(found.map(\.name) == ["C", "D", "E", "F", "G", "H", "I", "J", "A"])
        #expect(
            found.map(\.value) == [
                "spaces around", #"single "quoted" \ $x"#, #"double "quoted" \ $x \q"#, "continued", "two\nlines",
                "a bnot an assignment", "joinedand on", "", "last",
            ])
    }
}
