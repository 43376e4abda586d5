internal import LiteVaultCore
public import LiteVaultSystem

/// SQLite's date and time functions (https://sqlite.org/lang_datefunc.html).
public final class DateFunctions: Sendable {
    private init() {}

    /// `date(timestring, modifiers…)`
    public static func date(_ timestring: String, _ modifiers: String...) -> SQLExpression<Date?> {
        call("date", [timestring] + modifiers)
    }

    /// `time(timestring, modifiers…)`
    public static func time(_ timestring: String, _ modifiers: String...) -> SQLExpression<Date?> {
        call("time", [timestring] + modifiers)
    }

    /// `datetime(timestring, modifiers…)`
    public static func datetime(_ timestring: String, _ modifiers: String...) -> SQLExpression<Date?> {
        call("datetime", [timestring] + modifiers)
    }

    /// `julianday(timestring, modifiers…)`
    public static func julianday(_ timestring: String, _ modifiers: String...) -> SQLExpression<Date?> {
        call("julianday", [timestring] + modifiers)
    }

    /// `strftime(format, timestring, modifiers…)`
    public static func strftime(_ format: String, _ timestring: String, _ modifiers: String...) -> SQLExpression<Date?>
    {
        call("strftime", [format, timestring] + modifiers)
    }

    private static func call(_ function: String, _ arguments: [String]) -> SQLExpression<Date?> {
        SQLExpression(root: .call(function, arguments.map { .value($0) }))
    }
}

extension Date {
    /// The SQL function `date` of this date.
    public var date: SQLExpression<Date?> { called("date") }
    /// The SQL function `time` of this date.
    public var time: SQLExpression<Date?> { called("time") }
    /// The SQL function `datetime` of this date.
    public var datetime: SQLExpression<Date?> { called("datetime") }
    /// The SQL function `julianday` of this date.
    public var julianday: SQLExpression<Date?> { called("julianday") }

    private func called(_ function: String) -> SQLExpression<Date?> {
        // Text, which the functions read, whatever the connection stores.
        SQLExpression(root: .call(function, [.value(FormedDate(self, as: .textWithT))]))
    }
}

extension SQLExpression where Datatype == Date {
    /// The SQL function `date` of the column.
    public var date: SQLExpression<Date> { SQLExpression(root: .call("date", [root])) }
    /// The SQL function `time` of the column.
    public var time: SQLExpression<Date> { SQLExpression(root: .call("time", [root])) }
    /// The SQL function `datetime` of the column.
    public var datetime: SQLExpression<Date> { SQLExpression(root: .call("datetime", [root])) }
    /// The SQL function `julianday` of the column.
    public var julianday: SQLExpression<Date> { SQLExpression(root: .call("julianday", [root])) }
}
