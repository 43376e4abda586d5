internal import LiteVault

/// What is in a database, as `info` shows it.
struct ContentSummary {
    let content: DatabaseInfo.Content

    /// Adds the facts to a report.
    func add(to report: inout Report) {
        if let settings = content.settings {
            report.set("cipher", CipherSummary(settings: settings).json)
            report.row("cipher", CipherSummary(settings: settings).line)
        }
        report.set("page_size", .integer(content.pageSize))
        report.set("page_count", .integer(content.pageCount))
        report.set("free_pages", .integer(content.freePageCount))
        report.set("encoding", .string(content.encoding))
        report.set("journal_mode", .string(journalMode))
        report.set("auto_vacuum", .string(autoVacuum))
        report.set("user_version", .integer(Int64(content.userVersion)))
        report.set("application_id", .integer(Int64(content.applicationID)))
        report.set(
            "contents",
            [
                "tables": .array(content.tables.map(JSONValue.string)),
                "views": .array(content.views.map(JSONValue.string)),
                "indexes": .integer(Int64(content.indexes.count)), "triggers": .integer(Int64(content.triggers.count)),
            ])
        report.row("pages", "\(content.pageCount) of \(content.pageSize) bytes, \(content.freePageCount) free")
        report.row("encoding", content.encoding)
        report.row("journal mode", journalMode)
        report.row("auto-vacuum", autoVacuum)
        report.row("user_version", String(content.userVersion))
        report.row("application_id", String(content.applicationID))
        report.row(
            "contents",
            [
                Wording.count(content.tables.count, "table"), Wording.count(content.views.count, "view"),
                Wording.count(content.indexes.count, "index", "indexes"),
                Wording.count(content.triggers.count, "trigger"),
            ].joined(separator: ", "))
        if !content.tables.isEmpty { report.row("tables", Self.shortened(content.tables)) }
    }

    private var journalMode: String { content.journalMode.rawValue.lowercased() }

    private var autoVacuum: String {
        switch content.autoVacuum {
        case 1: "full"
        case 2: "incremental"
        default: "none"
        }
    }

    /// The first names, and how many more there are.
    private static func shortened(_ names: [String]) -> String {
        let shown = names.prefix(8).map(Wording.visible).joined(separator: ", ")
        return names.count > 8 ? shown + " … and \(names.count - 8) more" : shown
    }
}
