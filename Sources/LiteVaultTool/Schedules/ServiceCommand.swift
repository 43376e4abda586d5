internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A command of a service, as its process gets it: with the values of specifiers and variables.
struct ServiceCommand {
    private enum Word {
        case known(String)
        /// One that has a part, or consists of words, that cannot be found out.
        case unknown(UnknownSystemdValue)
    }

    private let words: [Word]
    /// Those of commands within one of the words, as `sh -c` has it.
    private let inner: [[Word]]

    /// - Parameter line: the value of `ExecStart=`.
    init(_ line: String, _ environment: ServiceEnvironment, of unit: SystemdUnitName) {
        let raw = Quoting.systemdWords(of: line) ?? []
        // The program's path may begin with signs, of which a colon turns variables off. It has no variables itself.
        let signs = raw.first?.utf8.prefix { "@-:+!".utf8.contains($0) }
        let hasVariables = signs?.contains(UInt8(ascii: ":")) != true
        words = raw.enumerated().flatMap { index, word in
            Self.words { () throws(UnknownSystemdValue) in
                let text = try Quoting.systemdText(word, of: unit)
                guard hasVariables, index > 0 else { return [text] }
                return try Quoting.systemdWords(replacingVariablesIn: text, environment.value)
            }
        }
        inner = words.compactMap { word in
            guard case .known(let text) = word, Self.isCommand(text) else { return nil }
            return (Quoting.systemdWords(of: text) ?? []).flatMap { word in
                Self.words { () throws(UnknownSystemdValue) in
                    [try Quoting.shellText(replacingVariablesIn: word, environment.value)]
                }
            }
        }
    }

    /// Whether a word has a command of the tool in it.
    private static func isCommand(_ text: String) -> Bool {
        text.utf8.contains(UInt8(ascii: " ")) && (containsText(text, "schedule ") || containsText(text, "litevault"))
    }

    private static func words(_ body: () throws(UnknownSystemdValue) -> [String]) -> [Word] {
        do throws(UnknownSystemdValue) { return try body().map(Word.known) } catch { return [.unknown(error)] }
    }

    /// Whether it runs the jobs of a configuration.
    ///
    /// - Parameter isPath: whether a word names it.
    func runs(_ isPath: (String) -> Bool) -> Bool {
        guard verbs(in: words) == .run || inner.contains(where: { verbs(in: $0) == .run }) else { return false }
        return (words + inner.flatMap(\.self)).contains { word in
            guard case .known(let text) = word else { return false }
            return isPath(text)
        }
    }

    /// Why it cannot be said that it does not run one: what is not known of a command that runs jobs, or may.
    var doubts: [String] {
        ([words] + inner).flatMap { words -> [String] in
            guard verbs(in: words) != .other else { return [] }
            return words.compactMap { word in
                guard case .unknown(let value) = word else { return nil }
                return value.reason
            }
        }
    }

    private enum Verbs { case run, unknown, other }

    /// Whether words are those of a command that runs jobs; unknown where they may be.
    private func verbs(in words: [Word]) -> Verbs {
        var verdict = Verbs.other
        for (first, second) in zip(words, words.dropFirst()) {
            switch (first, second) {
            case (.known("schedule"), .known("run")), (.known("schedule"), .known("run-due")): return .run
            case (.known("schedule"), .unknown): verdict = .unknown
            case (.known(let program), .unknown) where containsText(program, "litevault"): verdict = .unknown
            case (.unknown, .known("run")), (.unknown, .known("run-due")):
                if words.contains(where: Self.namesTool) { verdict = .unknown }
            default: break
            }
        }
        return verdict
    }

    private static func namesTool(_ word: Word) -> Bool {
        guard case .known(let text) = word else { return false }
        return containsText(text, "litevault")
    }
}
