/// Short help, which `-h` prints; `--help` prints all of it.
enum ShortHelp {
    /// What is left of a command's help: what it does, examples, how it is called, its own options with a line each, and the first of each
    /// other group.
    ///
    /// - Parameter words: the command, for the last line.
    static func text(_ full: String, of words: [String]) -> String {
        let parts = sections(full).compactMap { section -> [String]? in
            switch section.title {
            case "OVERVIEW": return Array(section.lines.prefix { !$0.isEmpty })
            case "EXAMPLES": return section.lines
            case "EXIT STATUS": return nil
            default: return [section.lines[0]] + section.shortened
            }
        }
        let more = "'\((words + ["--help"]).joined(separator: " "))' explains all options."
        return (parts + [[more]]).map { $0.joined(separator: "\n") }.joined(separator: "\n\n")
    }

    /// The most characters in a line.
    private static let width = 80
    private static let column = 26

    /// A part of a help text, with its title.
    private struct Section {
        let title: String
        var lines: [String]

        /// Its options or commands, in a line each; of a group of options that several commands have, the first.
        var shortened: [String] {
            var entries: [String] = []
            for line in lines.dropFirst() where !line.isEmpty {
                // The explanation of a long name is below it.
                guard line.hasPrefix("   "), let last = entries.last else {
                    entries.append(line)
                    continue
                }
                let isNameAlone = !last.drop { $0 == " " }.contains("  ") && last.hasPrefix("  ")
                let gap = String(repeating: " ", count: isNameAlone ? max(2, column - last.count) : 1)
                entries[entries.count - 1] = last + gap + String(line.drop { $0 == " " })
            }
            let lines = entries.filter { !$0.hasPrefix("  See ") }.map(cut)
            guard title != "OPTIONS", lines.first?.hasPrefix("  -") == true, lines.count > 1 else { return lines }
            return [lines[0], "  … and \(lines.count - 1) more"]
        }

        private func cut(_ line: String) -> String {
            guard line.count > width else { return line }
            let start = line.prefix(width - 2)
            return (start.lastIndex(of: " ").map { start[..<$0] } ?? start) + " …"
        }
    }

    /// The parts of a help text, each of which begins with a title in capitals.
    private static func sections(_ full: String) -> [Section] {
        var found: [Section] = []
        for line in full.split(separator: "\n", omittingEmptySubsequences: false).map(String.init) {
            let title = line.prefix { $0 != ":" }
            if title.count < line.count, !title.isEmpty, title.allSatisfy({ $0.isUppercase || $0 == " " }) {
                found.append(Section(title: String(title), lines: [line]))
            } else if !found.isEmpty {
                found[found.count - 1].lines.append(line)
            }
        }
        return found.map { section in
            var section = section
            // What follows the examples in one text with them.
            if section.title == "EXAMPLES" { section.lines = Array(section.lines.prefix { !$0.isEmpty }) }
            return section
        }
    }
}
