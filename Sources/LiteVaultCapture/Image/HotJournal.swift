internal import Foundation
internal import LiteVaultCipher

/// A rollback journal that a crash left behind: what a reader with the right to write would roll back first.
enum HotJournal {
    /// The pages as they were before the interrupted transaction; nil if there is nothing to roll back.
    ///
    /// To be called under the SHARED lock: whoever holds RESERVED meanwhile has written nothing to the file yet.
    static func overlay(of file: SourceFile) throws -> PageOverlay? {
        guard let journal = try CompanionFile(path: file.path + "-journal") else { return nil }
        // The journal of a transaction in progress: its pages are still those of the file.
        if try file.isReserved() { return nil }
        guard try file.size() > 0,
            let content = try RollbackJournal(
                size: journal.size(), exists: CompanionFile.exists, read: { try journal.read(count: $1, at: $0) })
        else { return nil }
        return PageOverlay(
            file: journal, pageSize: content.pageSize, pageCount: content.pageCount, pages: content.pages)
    }
}
