internal import Foundation
internal import LiteVaultCore

extension NewDatabase {
    /// Copies page by page (the backup API), and checks the copy. Key and salt may differ, the settings may not.
    ///
    /// - Parameters:
    ///   - source: inside a read transaction: otherwise every commit of somebody else would make the copy start over,
    ///     and it might never end.
    ///   - comparing: whether all content is compared as well, where the source will not be kept.
    func fillByPages(
        from source: Connection, walMode: Bool, comparing: Bool = false, _ report: OperationProgress.Report
    ) throws {
        try reporting {
            let copy = try openForWriting()
            try copyPages(from: source, to: copy, report)
            guard try copy.integer("page_count") == source.integer("page_count") else {
                throw VaultError(.internalFailure, "The copy is incomplete", path: destination)
            }
            try copy.close()
            let reopened = try open()
            try reopened.prepareForOperation()
            try check(reopened, report)
            if comparing { try compare(source, reopened, report) }
            // The header came over with the first page. A source that had to leave WAL for an exclusive lock is in it.
            if walMode { try reopened.setJournalMode(.wal) }
            try reopened.close()
        }
    }

    private func compare(_ source: Connection, _ copy: Connection, _ report: OperationProgress.Report) throws {
        do {
            try ContentComparator(source, copy).compare { try report(.init(.comparing, $0, of: nil, .rows)) }
        } catch let error as DatabaseError where error.needsItsApplication {
            // Rows that cannot be read without the database's own application. Every page was authenticated.
        }
    }

    private func copyPages(from source: Connection, to copy: Connection, _ report: OperationProgress.Report) throws {
        let backup = try Backup(sourceConnection: source, targetConnection: copy)
        defer { backup.finish() }
        let deadline = Date().addingTimeInterval(max(source.busyTimeout, 1))
        while true {
            switch try Self.reportingDamage(of: source, { try backup.advance(pages: .limited(number: 512)) }) {
            case .done:
                try report(.init(.copying, Int64(backup.pageCount), of: Int64(backup.pageCount), .pages))
                return
            case .more:
                let total = Int64(backup.pageCount)
                try report(.init(.copying, total - Int64(backup.remainingPages), of: total, .pages))
            case .busy:
                guard Date() < deadline else {
                    throw VaultError(.busy, "The database is locked", path: source.description)
                }
                Thread.sleep(forTimeInterval: 0.01)
            }
        }
    }

    /// A page of the source that cannot be read ends the copy with whatever code the codec left behind: SQLITE_ERROR on
    /// SQLCipher 4. What is wrong with the copy itself has codes of its own.
    private static func reportingDamage<T>(of source: Connection, _ body: () throws -> T) throws -> T {
        do { return try body() } catch let error as DatabaseError {
            switch error.resultCode.primary {
            case .error, .corrupt, .notADatabase, .outOfMemory:
                throw VaultError(
                    .damaged, "A page of the database cannot be read", path: source.description, cause: error,
                    remedy: "Verify it, and restore a backup. Nothing was written under the destination's name.")
            default: throw error
            }
        }
    }
}
