package import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// Renders values as SQL literals, for statements that take no parameters.
package enum LiteralSQL {
    /// The text with each parameter replaced by the literal of its value.
    package static func text(
        _ template: String, _ bindings: [(any Binding)?], dates: DateStorage = .text
    ) -> String {
        guard !bindings.isEmpty else { return template }
        var result = ""
        var remaining = bindings[...]
        for token in SQLTokens(template) {
            // A `?` inside a quoted name or a literal is part of that token, not a parameter.
            if token.kind == .parameter, token.text == "?", let value = remaining.popFirst() {
                result += literal(value, dates: dates)
            } else {
                result += token.text
            }
        }
        return result
    }

    package static func literal(_ value: (any Binding)?, dates: DateStorage = .text) -> String {
        switch value {
        case nil: return "NULL"
        case let number as Int64: return String(number)
        case let number as Int: return String(number)
        case let flag as Bool: return flag ? "1" : "0"
        case let number as Double: return literal(number)
        case let text as String: return Quoting.sqlText(text)
        case let blob as Blob: return blob.description
        case let data as Data: return Blob(bytes: [UInt8](data)).description
        case let bytes as [UInt8]: return Blob(bytes: bytes).description
        case let date as Date: return literal(dates.value(of: date))
        case let date as FormedDate: return literal(date.storage.value(of: date.date))
        case let date as any DateWithForm: return literal(date.formed.storage.value(of: date.formed.date))
        case let uuid as UUID: return Quoting.sqlText(uuid.uuidString)
        case let url as URL: return Quoting.sqlText(url.absoluteString)
        case let other?: return Quoting.sqlText(String(describing: other))
        }
    }

    /// A date outside of the years that can be stored has a literal that no statement runs with.
    private static func literal(_ date: StoredValue?) -> String {
        guard let date else { return "\\ /* a date outside of the years 0000 to 9999 */" }
        return literal(date.binding)
    }

    /// SQL has no literal for infinity or NaN. SQLite stores NaN as NULL.
    private static func literal(_ number: Double) -> String {
        if number.isNaN { return "NULL" }
        if number.isInfinite { return number < 0 ? "-9e999" : "9e999" }
        return String(number)
    }
}
