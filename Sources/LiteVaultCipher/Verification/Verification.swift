internal import Foundation
internal import LiteVaultCore

/// One verification, and what it has found so far.
struct Verification {
    let file: DatabaseFile
    let key: DatabaseKey?
    let settings: CipherSettings
    var report: VerificationReport
    let progress: OperationProgress.Report

    /// Everything that an open database can be asked. In a read transaction.
    mutating func examine(_ connection: Connection) throws {
        report.pageSize = Int(try connection.pageSize())
        try connection.withHandle { handle in
            let engineFile = try EngineFile(connection: handle, path: file.path)
            if let key,
                let authenticator = try PageAuthenticator.ifPossible(
                    key: key, settings: settings, connection, engineFile)
            {
                try authenticate(engineFile, authenticator)
            }
            try checkLength(engineFile, connection)
        }
        try progress(.init(.checking, 0, of: nil, .pages))
        try checkStructure(connection)
        try checkForeignKeys(connection)
    }

    /// What is left to look at when the engine cannot open the file although the key is right.
    mutating func examineUnopened(_ error: VaultError) throws {
        let engineFile = try EngineFile(path: file.path)
        report.fileSize = try engineFile.size()
        if let authenticator = try authenticator(engineFile) { try authenticate(engineFile, authenticator) }
        if report.isIntact, key != nil {
            report.add(.truncated, "The database refers to pages behind the end of the file")
        }
        report.add(.structure, "The engine cannot read the database: \(error.message)")
    }

    private mutating func authenticate(_ engineFile: EngineFile, _ authenticator: PageAuthenticator) throws {
        let pages = try authenticator.report(
            size: engineFile.size(), read: { try engineFile.read(at: $0, count: $1) },
            // Somebody may just be writing the page.
            retry: { Thread.sleep(forTimeInterval: 0.02) },
            progress: { try progress(.init(.authenticating, Int64($0), of: Int64($1), .pages)) })
        report.pageSize = authenticator.layout.pageSize
        report.authenticatedPages = pages.pages - pages.failureCount
        for page in pages.failures {
            report.add(.page, "Page \(page) does not match its authentication code", page: page)
        }
        if pages.failureCount > pages.failures.count {
            report.add(.page, "\(pages.failureCount - pages.failures.count) more pages do not match their codes")
        }
        if pages.trailingBytes > 0 {
            report.add(
                .truncated, "The file ends in the middle of page \(pages.pages + 1)", page: UInt32(pages.pages + 1))
        }
    }

    /// Whether file and database end at the same place. Pages in the log may still be missing in the file.
    private mutating func checkLength(_ engineFile: EngineFile, _ connection: Connection) throws {
        report.fileSize = try EngineFile(path: file.path).size()
        // As the connection sees it: a journal that is pending gives the file its old length back.
        let size = try engineFile.size()
        let content = try connection.contentSize()
        guard report.logPages == 0, size != content else { return }
        if size < content {
            guard !report.problems.contains(where: { $0.kind == .truncated }) else { return }
            return report.add(.truncated, "The file is \(content - size) bytes too short")
        }
        var offset = content
        while offset < size {
            let bytes = try engineFile.read(at: offset, count: 1 << 16)
            // Zeros are room that was allocated ahead.
            guard !bytes.isEmpty else { return }
            if bytes.contains(where: { $0 != 0 }) {
                return report.add(.excess, "\(size - content) bytes follow the end of the database")
            }
            offset += Int64(bytes.count)
        }
    }

    private mutating func checkStructure(_ connection: Connection) throws {
        do {
            let lines = try connection.all("PRAGMA integrity_check(100)") { try $0.get(0, as: String.self) }
            for line in lines where line != "ok" { report.add(.structure, line) }
        } catch let error as DatabaseError where error.needsItsApplication {
            report.unchecked.append("The structure could not be checked: \(error.message)")
        } catch let error as DatabaseError where [1, 7, 11, 26].contains(error.code) {
            report.add(.structure, "The engine cannot read the database: \(error.message)")
        }
    }

    private mutating func checkForeignKeys(_ connection: Connection) throws {
        var found = 0
        do {
            try connection.forEachRow("PRAGMA foreign_key_check") { row in
                found += 1
                guard found <= 100 else { return }
                let table = try row.get(0, as: String.self)
                let rowid = try row.get(1, as: Int64?.self).map { "row \($0)" } ?? "a row"
                report.add(
                    .foreignKey, "\(rowid) of table '\(table)' refers to no row of '\(try row.get(2, as: String.self))'"
                )
            }
        } catch let error as DatabaseError where error.needsItsApplication {
            report.unchecked.append("The foreign keys could not be checked: \(error.message)")
        } catch let error as DatabaseError where error.message.contains("foreign key mismatch") {
            report.add(.foreignKey, error.message)
        } catch let error as DatabaseError where [1, 7, 11, 26].contains(error.code) {
            report.add(.foreignKey, "The foreign keys cannot be checked: \(error.message)")
        }
        if found > 100 { report.add(.foreignKey, "\(found - 100) more foreign keys lead nowhere") }
    }

    /// An authenticator without a connection; nil where there is nothing to authenticate by.
    func authenticator(_ engineFile: EngineFile) throws -> PageAuthenticator? {
        guard let key, let engine = CipherEngine.version else { return nil }
        let layout = PageLayout(settings, defaultCompatibility: engine.defaultCompatibility)
        do {
            return try PageAuthenticator(key: key, layout: layout, fileSalt: engineFile.read(at: 0, count: 16))
        } catch let error as VaultError where error.code == .unsupported || error.code == .usage {
            return nil
        }
    }
}
