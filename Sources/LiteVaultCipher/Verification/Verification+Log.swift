internal import Foundation
internal import LiteVaultCore

extension Verification {
    /// Examines the write-ahead log, if there is one.
    ///
    /// - Returns: Whether the database must not be opened: the log is not one of this database, or not as its writer
    ///   left it, and SQLite would copy what it takes for valid into the file, and delete the rest.
    mutating func logIsDangerous() throws -> Bool {
        // A writer may begin the log anew while it is read: only what stays wrong is wrong.
        var findings: [VerificationReport.Problem] = []
        for attempt in 0..<4 {
            if attempt > 0 { Thread.sleep(forTimeInterval: 0.05) }
            findings = try logFindings()
            if findings.isEmpty { return false }
        }
        // Under a wrong key nothing authenticates, and it is the key that has to be reported.
        if key != nil, try !keyIsProven() { return false }
        report.problems += findings
        let engineFile = try EngineFile(path: file.path)
        report.fileSize = try engineFile.size()
        return true
    }

    private mutating func logFindings() throws -> [VerificationReport.Problem] {
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
        var findings: [VerificationReport.Problem] = []
        if let broken = log.brokenAt {
            findings.append(
                .init(
                    .log,
                    "The write-ahead log is damaged at frame \(broken): what was committed there and later is lost"))
        }
        if report.kind == .plain, !log.committed.isEmpty, let pageSize = try plainPageSize(), pageSize != log.pageSize {
            findings.append(
                .init(.log, "The write-ahead log has pages of \(log.pageSize) bytes: it is of another database"))
        }
        return findings + (try unauthenticated(log, side))
    }

    /// The page size that the header of a plain database tells.
    private func plainPageSize() throws -> Int? {
        let header = try EngineFile(path: file.path).read(at: 0, count: 18)
        guard header.count == 18 else { return nil }
        let number = Int(header[16]) << 8 | Int(header[17])
        return number == 1 ? 65536 : number
    }

    private func unauthenticated(_ log: WriteAheadLog, _ side: SideFile) throws -> [VerificationReport.Problem] {
        let engineFile = try EngineFile(path: file.path)
        guard !log.committed.isEmpty, let authenticator = try authenticator(engineFile) else { return [] }
        guard log.pageSize == authenticator.layout.pageSize else {
            return [.init(.log, "The write-ahead log has pages of \(log.pageSize) bytes: it is of another database")]
        }
        var findings: [VerificationReport.Problem] = []
        for frame in log.committed where findings.count < 100 {
            let page = try side.read(at: frame.offset, count: log.pageSize)
            guard !page.withUnsafeBytes({ authenticator.authenticates($0, number: frame.page) }) else { continue }
            findings.append(
                .init(.log, "Page \(frame.page) in the write-ahead log does not match its code", page: frame.page))
        }
        return findings
    }

    /// Whether some page of the file authenticates under the key. True where nothing can be authenticated.
    private func keyIsProven() throws -> Bool {
        let engineFile = try EngineFile(path: file.path)
        guard let authenticator = try authenticator(engineFile) else { return true }
        let first = try engineFile.read(at: 0, count: authenticator.layout.pageSize)
        if first.withUnsafeBytes({ authenticator.authenticates($0, number: 1) }) { return true }
        return try authenticator.authenticatesSomeLaterPage(size: engineFile.size()) {
            try engineFile.read(at: $0, count: $1)
        }
    }
}
