public import Foundation
internal import LiteVaultEngine

extension Connection {
    /// Defines a collation, or replaces it (`sqlite3_create_collation_v2`).
    ///
    /// The order must be total and must never change for texts that are in an index, or the index is damaged. The
    /// connection must not be used in the closure.
    ///
    /// - Parameters:
    ///   - collation: its name in SQL.
    ///   - block: compares two texts, whole, NUL characters included.
    /// - Throws: `DatabaseError`, for example `SQLITE_BUSY` while a statement runs.
    public func createCollation(
        _ collation: String, _ block: @escaping (_ lhs: String, _ rhs: String) -> ComparisonResult
    ) throws {
        try withHandle { db in
            let box = HookBox(self) { (pair: (String, String)) in block(pair.0, pair.1) }
            // Unlike a function's, a collation's context is not released when the call fails.
            let retained = Unmanaged.passRetained(box)
            let code = sqlite3_create_collation_v2(
                db, collation, SQLITE_UTF8, retained.toOpaque(),
                { context, leftLength, left, rightLength, right in
                    let pair = (collatedText(left, leftLength), collatedText(right, rightLength))
                    switch HookBox<(String, String), ComparisonResult>.call(context, pair) {
                    case .orderedAscending: return -1
                    case .orderedSame: return 0
                    case .orderedDescending: return 1
                    }
                }, releaseBox)
            if code != SQLITE_OK { retained.release() }
            try check(code)
        }
    }
}

private func collatedText(_ bytes: UnsafeRawPointer?, _ length: Int32) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : Int(length)), as: UTF8.self)
}
