internal import Foundation
package import LiteVaultCore

/// Writes values into SQL text, for statements that take no parameters.
package enum LiteralSQL {
    /// The text with each parameter replaced by its value.
    package static func text(_ template: String, _ bindings: [(any Binding)?]) -> String {
        guard !bindings.isEmpty else { return template }
        var result = ""
        var remaining = bindings[...]
        for token in SQLTokens(template) {
            // A `?` inside a quoted name or a literal is part of that token and stays.
            if token.text == "?", token.kind == .other, let value = remaining.popFirst() {
                result += literal(value)
            } else {
                result += token.text
            }
        }
        return result
    }

    /// A value as an SQL literal.
    package static func literal(_ value: (any Binding)?) -> String {
        switch value {
        case nil: return "NULL"
        case let number as Int64: return String(number)
        case let number as Int: return String(number)
        case let flag as Bool: return flag ? "1" : "0"
        case let number as Double: return literal(number)
        case let text as String: return literal(text)
        case let blob as Blob: return blob.description
        case let data as Data: return Blob(bytes: [UInt8](data)).description
        case let bytes as [UInt8]: return Blob(bytes: bytes).description
        case let date as Date: return literal(DateText.string(from: date))
        case let uuid as UUID: return literal(uuid.uuidString)
        case let url as URL: return literal(url.absoluteString)
        case let other?: return literal(String(describing: other))
        }
    }

    /// SQL has no literal for infinity and none for NaN, which is stored as NULL.
    private static func literal(_ number: Double) -> String {
        if number.isNaN { return "NULL" }
        if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
        return String(number)
    }

    /// A literal ends at a NUL for the engine's parser; text with one is written as bytes.
    private static func literal(_ text: String) -> String {
        guard !text.utf8.contains(0) else { return "CAST(\(Blob(bytes: Array(text.utf8)).description) AS TEXT)" }
        return "'" + text.replacingOccurrences(of: "'", with: "''") + "'"
    }
}
