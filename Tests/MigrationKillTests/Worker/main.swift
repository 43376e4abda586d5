// Migrates a database, or prints its version. Tests/MigrationKillTests/run starts it and kills it.
//
//     MigrationWorker create FILE [wal]
//     MigrationWorker migrate FILE [wal]
//     MigrationWorker check FILE         prints the number of migrations of a whole version
import Foundation
import LiteVault

/// The file is encrypted if the engine supports it, with a raw key, which needs no key derivation.
let key: DatabaseKey? =
    EngineInfo.linked.encryption == .none ? nil : try DatabaseKey.raw([UInt8](repeating: 0x5a, count: 32))

func open(_ path: String) throws -> Connection {
    guard let key else { return try Connection(path) }
    // Verifying the key reads the file, which fails while another process commits.
    for _ in 0..<500 {
        do { return try Connection(path, key: key) } catch let error as VaultError where error.code == .busy {
            Thread.sleep(forTimeInterval: 0.02)
        }
    }
    return try Connection(path, key: key)
}

/// The schema and all rows as text.
func content(_ db: Connection) throws -> [String] {
    let objects = try db.schema.objectDefinitions().filter { !$0.name.hasPrefix("sqlite_") }.sorted {
        $0.name < $1.name
    }
    var lines = objects.map { "\($0.type.rawValue) \($0.name): \($0.sql ?? "")" }
    for table in objects where table.type == .table && !table.name.contains("_ft_") {
        try db.forEach("SELECT * FROM \"\(sql: table.name)\" ORDER BY 1") {
            lines.append("\(table.name) \($0.copy().values)")
        }
    }
    if objects.contains(where: { $0.name == "book_ft" }) {
        let found = try db.value("SELECT count(*) FROM book_ft WHERE book_ft MATCH 'book'", as: Int.self)
        lines.append("found in the full-text index: \(found)")
    }
    return lines
}

/// The version of a database, and why it does not match that version; nil if it does.
func fault(_ path: String) throws -> (version: Int, fault: String?) {
    guard FileManager.default.fileExists(atPath: path) else { return (0, nil) }
    let db = try open(path)
    let completed = try migrator.completedMigrations(db)
    let applied = try migrator.appliedMigrations(db)
    let found = try content(db)
    let problems = try db.schema.integrityCheck() + db.schema.foreignKeyCheck().map(\.description)
    try db.close()
    let expected = try Connection()
    if let last = completed.last { try migrator.migrate(expected, upTo: last) }
    let wanted = try content(expected)
    if applied.count != completed.count { return (completed.count, "applied \(applied), completed \(completed)") }
    if let difference = zip(found, wanted).first(where: { $0 != $1 }) { return (completed.count, "\(difference)") }
    if found.count != wanted.count { return (completed.count, "\(found.count) lines, not \(wanted.count)") }
    if !problems.isEmpty { return (completed.count, "\(problems)") }
    // A file whose creation was interrupted is empty after recovery.
    let size = try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int ?? 0
    if size > 0 {
        let report = try DatabaseFile(path).verify(key: key)
        if !report.isIntact { return (completed.count, "\(report.problems)") }
    }
    return (completed.count, nil)
}

let arguments = CommandLine.arguments
guard arguments.count > 2, ["create", "migrate", "check"].contains(arguments[1]) else {
    print("usage: MigrationWorker create|migrate|check FILE [wal]")
    exit(64)
}
do {
    if arguments[1] != "check" {
        let db = try open(arguments[2])
        if arguments.count > 3 { try db.setPragma(.journalMode, to: .wal) }
        if arguments[1] == "create" {
            // Several processes that find an empty file would each choose a salt for it, and only one would be used.
            try db.setPragma(.applicationID, to: 1)
            exit(0)
        }
        try db.setPragma(.foreignKeys, to: true)
        try migrator.migrate(db)
        try db.close()
    } else {
        let (version, fault) = try fault(arguments[2])
        if let fault {
            print("version \(version) is not whole: \(fault.prefix(500))")
            exit(1)
        }
        print(version)
    }
} catch {
    print("\(error)")
    exit(1)
}
