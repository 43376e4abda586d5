internal import LiteVault
internal import LiteVaultCore
internal import LiteVaultEngine
internal import LiteVaultQuoting

/// What commands of the shell set for the statements after them.
final class ShellSettings {
    var format: RowFormat
    var style = RowStyle()
    /// Whether a script ends at its first error; nil if nobody has said so.
    var bails: Bool?
    var showsTime = false
    var showsChanges = false
    var showsPlans = false
    var echoes = false
    private var parameters: [ExactText: StoredValue] = [:]

    init(_ format: RowFormat, bails: Bool?) { (self.format, self.bails) = (format, bails) }

    /// The meaning of `on`, `off` and their synonyms.
    static func isOn(_ word: String) throws(Failure) -> Bool {
        switch word.lowercased() {
        case "on", "yes", "true", "1": return true
        case "off", "no", "false", "0": return false
        default: throw Failure(.usage, "'\(Format.visible(word))' is neither on nor off", remedy: "Write on or off.")
        }
    }

    /// `.mode FORMAT [TABLE]`, with the names that other shells have for formats.
    func setFormat(_ words: [String]) throws(Failure) {
        let name = words[0] == "column" ? "table" : words[0] == "ascii" || words[0] == "tcl" ? "list" : words[0]
        guard let format = RowFormat(rawValue: name), words.count == 1 || format == .insert else {
            throw Failure(.usage, "unknown format", remedy: "The formats are \(RowFormat.names).")
        }
        self.format = format
        style.separators = nil
        style.table = words.count > 1 ? words[1] : "table"
    }

    /// `.width N …`
    func setWidths(_ words: [String]) throws(Failure) {
        let widths = words.compactMap { Int($0) }.filter { $0.magnitude <= 10_000 }
        guard widths.count == words.count else {
            throw Failure(
                .usage, "a width is not a number", remedy: "Write '.width 10 0 20'; 0 is as wide as the values.")
        }
        style.widths = widths
    }

    /// `.separator COL [ROW]`
    func setSeparators(_ words: [String]) throws(Failure) {
        let texts = words.map(Self.unescaped)
        style.separators = (texts[0], texts.count > 1 ? texts[1] : style.separators?.row)
    }

    /// A text with `\t`, `\n`, `\r`, `\\` and `\001` as what they stand for: such signs are hard to type.
    private static func unescaped(_ word: String) -> String {
        var bytes: [UInt8] = []
        var rest = Array(word.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let sign = rest.first else {
                bytes.append(byte)
                continue
            }
            let digits = rest.prefix(3).prefix { (48...55).contains($0) }
            if let number = UInt8(String(decoding: digits, as: UTF8.self), radix: 8), !digits.isEmpty {
                bytes.append(number)
                rest = rest.dropFirst(digits.count)
            } else {
                let known = [UInt8(ascii: "t"): UInt8(9), UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13]
                bytes.append(known[sign] ?? sign)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    // MARK: Parameters

    /// `.parameter set|unset|list|clear`
    ///
    /// - Parameter text: the whole line, as it was typed.
    func parameter(_ words: [String], _ text: String, _ connection: Connection) throws -> [String] {
        switch (words.first, words.count) {
        case ("set", 3...):
            let name = try Self.parameterName(words[1])
            parameters[ExactText(name)] = try Self.value(Array(words.dropFirst(2)), text, connection)
        case ("unset", 2): parameters[ExactText(try Self.parameterName(words[1]))] = nil
        case ("clear", 1): parameters = [:]
        // Where other shells make a table for the values.
        case ("init", 1): break
        case ("list", 1):
            return parameters.map { "\(Format.visible($0.key.text)) \(Format.visible(ValueText.sql($0.value)))" }
                .sorted()
        default:
            throw Failure(
                .usage, "wrong arguments of .parameter",
                remedy: "Write '.parameter set :name VALUE', or unset, list or clear.")
        }
        return []
    }

    private static func parameterName(_ word: String) throws(Failure) -> String {
        guard let first = word.first, ":@$?".contains(first), word.count > 1 else {
            throw Failure(
                .usage, "'\(Format.visible(word))' is not the name of a parameter",
                remedy: "It begins with ':', '@' or '$', or is '?1' for the first.")
        }
        return word
    }

    /// A value: a literal or another expression of SQL, or else the text itself. Double quotes around all of it are left out.
    private static func value(_ words: [String], _ text: String, _ connection: Connection) throws -> StoredValue {
        let typed = text.split(maxSplits: 3, whereSeparator: \.isWhitespace).last.map { $0.trimmedEnd } ?? ""
        let expression = typed.hasPrefix("\"") && words.count == 1 ? words[0] : typed
        try MisplacedKey.refuse(inStatement: expression)
        guard let statement = try? connection.prepare("SELECT " + expression), statement.isReadOnly,
            statement.columnNames.count == 1
        else { return .text(expression) }
        var value: StoredValue?
        try statement.forEach { row in if value == nil { value = try row.get(0, as: StoredValue.self) } }
        return value ?? .null
    }

    /// The values of a statement's parameters, in order; nil for a statement without parameters.
    ///
    /// - Throws: `usage` for one without a value.
    func bindings(of statement: Statement) throws -> Bindings? {
        let count = statement.parameterCount
        guard count > 0 else { return nil }
        let names = try statement.withPrepared { prepared in
            (1...Int32(count)).map { sqlite3_bind_parameter_name(prepared.handle, $0).map { String(cString: $0) } }
        }
        // Numbers that a statement leaves out have no name, as those that are '?' alone.
        let hasNumbers = names.contains { $0?.hasPrefix("?") == true }
        return Bindings(
            try names.map { name -> (any Binding)? in
                guard let name else {
                    if hasNumbers { return nil }
                    throw Failure(
                        .usage, "a parameter has no name",
                        remedy: "Write ':name' for '?', and '.parameter set :name VALUE'.")
                }
                guard let value = parameters[ExactText(name)] else {
                    throw Failure(
                        .usage, "the parameter '\(Format.visible(name))' has no value",
                        remedy: "'.parameter set \(Format.visible(name)) VALUE' gives it one.")
                }
                return value.binding
            })
    }
}
