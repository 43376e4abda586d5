/// Swift names for SQL names.
enum SwiftNames {
    /// `user_account` becomes `UserAccount`.
    static func type(_ name: String) -> String {
        let result = words(name).map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        return valid(result).map { reserved.contains($0) ? $0 + "_" : $0 } ?? "_" + result
    }

    /// `first_name` becomes `firstName`; a keyword gets backticks.
    static func member(_ name: String) -> String {
        let parts = words(name)
        let first = parts.first.map {
            $0.allSatisfy(\.isUppercase) ? $0.lowercased() : $0.prefix(1).lowercased() + $0.dropFirst()
        }
        let rest = parts.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }
        let result = ([first ?? ""] + rest).joined()
        guard let name = valid(result) else { return "_" + result }
        if reserved.contains(name) { return name + "_" }
        return keywords.contains(name) ? "`\(name)`" : name
    }

    private static func words(_ name: String) -> [String] {
        name.split { !$0.isLetter && !$0.isNumber }.map(String.init)
    }

    /// nil when it would begin with a digit, or is empty.
    private static func valid(_ name: String) -> String? {
        name.first.map { $0.isLetter } == true ? name : nil
    }

    /// What a type's member can not be called, and what each table already has.
    private static let reserved: Set = ["self", "Self", "Type", "Protocol", "init", "table"]

    private static let keywords: Set = [
        "as", "associatedtype", "break", "case", "catch", "class", "continue", "default", "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import",
        "in", "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public",
        "repeat", "rethrows", "return", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true",
        "try", "typealias", "var", "where", "while",
    ]
}
