internal import LiteVaultCore
internal import LiteVaultSystem

/// A verification of one database, with its results so far.
struct Verification {
    /// The file itself, not a link to it.
    let file: DatabaseFile
    /// Nil for a plaintext database.
    let unlocker: KeyUnlocker?
    var report: DatabaseFile.VerificationReport
    let progress: DatabaseFile.Progress.Report

    /// Checks the open database. Call it in a read transaction.
    mutating func examine(_ connection: Connection) throws {
        report.pageSize = Int(try connection.pageSize())
        try connection.withHandle { handle in
            let engineFile = try EngineFile(connection: handle, path: file.path)
            if let unlocker,
                let authenticator = try PageAuthenticator.ifPossible(
                    key: unlocker.key, held: connection.cipherSettings(), salt: unlocker.settings.salt, engineFile)
            {
                try authenticate(engineFile, authenticator)
            }
            try checkLength(engineFile, connection)
        }
        try progress(.init(.checking, 0, of: nil, .pages))
        // The check looks each row up in each index. With the engine's 2 MB most of these look-ups decrypt a page again.
        try connection.execute("PRAGMA cache_size = -24576")
        try checkStructure(connection)
        try checkForeignKeys(connection)
    }

    /// Runs the checks that are possible when the engine cannot open the file although the key is right.
    mutating func examineUnopened(_ error: VaultError) throws {
        let engineFile = try EngineFile(path: file.path)
        report.fileSize = try engineFile.size()
        if let authenticator = try authenticator(engineFile) { try authenticate(engineFile, authenticator) }
        if report.isIntact, unlocker != nil {
            report.add(.truncated, "The database refers to pages after the end of the file")
        }
        report.add(.structure, "The engine cannot read the database: \(error.message)")
    }

    /// Authenticates the pages of a file whose schema the engine cannot parse.
    ///
    /// - Throws: the error, unless pages are damaged. If none is, this says nothing about the database but that it needs another engine.
    mutating func examinePages(besides error: VaultError) throws {
        let engineFile = try EngineFile(path: file.path)
        report.fileSize = try engineFile.size()
        if let authenticator = try authenticator(engineFile) { try authenticate(engineFile, authenticator) }
        guard !report.isIntact else { throw error }
        report.add(.structure, "The engine cannot read the database: \(error.message)")
    }

    private mutating func authenticate(_ engineFile: EngineFile, _ authenticator: PageAuthenticator) throws {
        let pages = try authenticator.report(
            size: engineFile.size(), read: { try engineFile.read(at: $0, count: $1) },
            // The page may have been read during a write.
            retry: { SystemThread.sleep(seconds: 0.02) },
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

    /// Checks that file and database have the same length. Pages in the log may still be missing in the file.
    private mutating func checkLength(_ engineFile: EngineFile, _ connection: Connection) throws {
        report.fileSize = try EngineFile(path: file.path).size()
        // As the connection sees it: rolling back a pending journal restores the old length of the file.
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
            // Zeros are space that was allocated ahead.
            guard !bytes.isEmpty else { return }
            if bytes.contains(where: { $0 != 0 }) {
                return report.add(.excess, "\(size - content) bytes follow the end of the database")
            }
            offset += Int64(bytes.count)
        }
    }

    private mutating func checkStructure(_ connection: Connection) throws {
        do {
            try checkStructure("PRAGMA integrity_check(100)", connection)
        } catch let error as DatabaseError where error.needsItsApplication {
            try checkTables(connection, error)
        } catch let error as DatabaseError where error.isUnreadable {
            report.add(.structure, "The engine cannot read the database: \(error.message)")
        }
    }

    private mutating func checkStructure(_ statement: SQL, _ connection: Connection) throws {
        let lines = try connection.all(statement) { try $0.get(0, as: String.self) }
        for line in lines where line != "ok" {
            guard let index = Self.uncheckedIndex(line) else {
                report.add(.structure, line)
                continue
            }
            let sql = try connection.value(
                "SELECT sql FROM main.sqlite_master WHERE name = ?", with: index, as: String?.self)
            let isContentless = sql.flatMap(VirtualTableText.init)?.keepsNoContent == true
            report.unchecked.append(
                .init(
                    .structure,
                    isContentless
                        ? "The full-text index '\(index)' keeps no content, so there is nothing to compare it with"
                        : "The full-text index '\(index)' could not be checked: \(line)"))
        }
    }

    /// The full-text index that the engine (3.44) could not check, without having found damage: FTS4 without content is an error to it.
    private static func uncheckedIndex(_ line: String) -> String? {
        let end = ": SQL logic error"
        guard line.hasPrefix("unable to validate the inverted index for FTS"), line.hasSuffix(end),
            let start = line.firstRange(ofText: " table main.")
        else { return nil }
        return String(line[start.upperBound...].dropLast(end.count))
    }

    /// Checks one table after the other: of a single one that needs a collation or function of its application, the engine checks nothing
    /// of the database.
    private mutating func checkTables(_ connection: Connection, _ reason: DatabaseError) throws {
        report.isWholeStructureChecked = false
        guard IndexProof.canCheckTables else {
            return report.unchecked.append(.init(.structure, "The structure could not be checked: \(reason.message)"))
        }
        do {
            let tables = try connection.all(
                "SELECT name FROM main.sqlite_master WHERE type = 'table' ORDER BY rowid"
            ) { try $0.get(0, as: String.self) }
            for table in ["sqlite_master"] + tables where report.problems.count < 100 {
                try progress(.init(.checking, 0, of: nil, .pages))
                do {
                    try checkStructure("PRAGMA integrity_check(\(table: table))", connection)
                } catch let error as DatabaseError where error.needsItsApplication {
                    report.unchecked.append(
                        .init(.structure, "The structure of table '\(table)' could not be checked: \(error.message)"))
                }
            }
        } catch let error as DatabaseError where error.isUnreadable {
            return report.add(.structure, "The engine cannot read the database: \(error.message)")
        }
        report.unchecked.append(
            .init(.structure, "Which pages are free or in use twice could not be checked: \(reason.message)"))
    }

    private mutating func checkForeignKeys(_ connection: Connection) throws {
        var found = 0
        do {
            try connection.forEach("PRAGMA foreign_key_check") { row in
                found += 1
                guard found <= 100 else { return }
                let table = try row.get(0, as: String.self)
                let rowid = try row.get(1, as: Int64?.self).map { "row \($0)" } ?? "a row"
                report.add(
                    .foreignKey, "\(rowid) of table '\(table)' refers to no row in '\(try row.get(2, as: String.self))'"
                )
            }
        } catch let error as DatabaseError where error.message.contains("foreign key mismatch") {
            report.add(.foreignKey, error.message)
        } catch let error as DatabaseError where error.mayBeDamage {
            report.add(.structure, "The foreign keys cannot be checked: \(error.message)")
        } catch let error as DatabaseError where error.code == 1 {
            report.unchecked.append(.init(.foreignKey, "The foreign keys could not be checked: \(error.message)"))
        }
        if found > 100 { report.add(.foreignKey, "\(found - 100) more foreign keys refer to missing rows") }
    }

    /// An authenticator without a connection; nil where pages have no codes.
    private func authenticator(_ engineFile: EngineFile) throws -> PageAuthenticator? {
        guard let unlocker else { return nil }
        let layout = PageLayout(unlocker.settings, defaultCompatibility: unlocker.engine.defaultCompatibility)
        return try PageAuthenticator.ifPossible(key: unlocker.key, layout, engineFile)
    }
}

// MARK: The write-ahead log

extension Verification {
    /// Checks the write-ahead log, if there is one.
    ///
    /// - Returns: whether the database must not be opened: the log belongs to another database or is damaged, and
    ///   SQLite would copy the apparently valid part to the file, and delete the rest.
    mutating func logIsDangerous() throws -> Bool {
        // A writer may restart the log while it is read: only problems that persist count.
        var findings: [DatabaseFile.VerificationReport.Problem] = []
        for attempt in 0..<4 {
            if attempt > 0 { SystemThread.sleep(seconds: 0.05) }
            findings = try logFindings()
            if findings.isEmpty { return false }
        }
        // With a wrong key nothing authenticates, and the key has to be reported.
        if unlocker != nil, try !isKeyVerified() { return false }
        report.problems += findings
        report.fileSize = try EngineFile(path: file.path).size()
        return true
    }

    private mutating func logFindings() throws -> [DatabaseFile.VerificationReport.Problem] {
        report.logPages = 0
        guard let side = try SideFile(path: file.path + "-wal") else { return [] }
        let log: WriteAheadLog
        do {
            guard
                let found = try WriteAheadLog(
                    size: side.size(), path: side.path, read: { try side.read(at: $0, count: $1) })
            else { return [] }
            log = found
        } catch let error as VaultError where error.code == .damaged {
            return [.init(.log, error.message)]
        }
        report.logPages = log.committed.count
        var findings: [DatabaseFile.VerificationReport.Problem] = []
        if let broken = log.brokenAt {
            findings.append(
                .init(.log, "The write-ahead log is damaged at frame \(broken): commits from there on are lost"))
        }
        if report.kind == .plain, !log.committed.isEmpty {
            let header = try EngineFile(path: file.path).read(at: 0, count: 18)
            let pageSize = header.withUnsafeBytes { CiphertextTest.pageSize(inHeader: $0) }
            if pageSize != log.pageSize { findings.append(Self.foreign(log)) }
        }
        return findings + (try unauthenticated(log, side))
    }

    private static func foreign(_ log: WriteAheadLog) -> DatabaseFile.VerificationReport.Problem {
        .init(.log, "The write-ahead log has pages of \(log.pageSize) bytes: it belongs to another database")
    }

    private func unauthenticated(
        _ log: WriteAheadLog, _ side: SideFile
    ) throws -> [DatabaseFile.VerificationReport.Problem] {
        let engineFile = try EngineFile(path: file.path)
        guard !log.committed.isEmpty, let authenticator = try authenticator(engineFile) else { return [] }
        guard log.pageSize == authenticator.layout.pageSize else { return [Self.foreign(log)] }
        var findings: [DatabaseFile.VerificationReport.Problem] = []
        for frame in log.committed where findings.count < 100 {
            let page = try side.read(at: frame.offset, count: log.pageSize)
            guard !page.withUnsafeBytes({ authenticator.authenticates($0, number: frame.page) }) else { continue }
            findings.append(
                .init(.log, "Page \(frame.page) in the write-ahead log does not match its code", page: frame.page))
        }
        return findings
    }

    /// Whether some page of the file authenticates under the key. True if pages have no codes.
    private func isKeyVerified() throws -> Bool {
        let engineFile = try EngineFile(path: file.path)
        guard let authenticator = try authenticator(engineFile) else { return true }
        let first = try engineFile.read(at: 0, count: authenticator.layout.pageSize)
        if first.withUnsafeBytes({ authenticator.authenticates($0, number: 1) }) { return true }
        return try authenticator.authenticatesSomeLaterPage(size: engineFile.size()) {
            try engineFile.read(at: $0, count: $1)
        }
    }
}
