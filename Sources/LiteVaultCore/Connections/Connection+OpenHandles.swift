internal import CEngineSupport
internal import LiteVaultEngine

/// An open `sqlite3_blob`. The engine may use its address again for another one, which has another number.
struct OpenBlob {
    let handle: OpaquePointer
    let number: UInt64
}

// The handles of incremental input and output. Each belongs to a statement inside the engine: while one is open, so is its
// transaction, and it must not be used once that statement was reset.

extension Connection {
    func openBlob(
        _ schema: String, _ table: String, _ column: String, rowid: Int64, forWriting: Bool
    ) throws -> OpenBlob {
        // A name ends at a NUL in C, and the part before it could be another one.
        guard ![schema, table, column].contains(where: { $0.utf8.contains(0) }) else {
            throw DatabaseError(misuse: "the name of a table or column contains a NUL")
        }
        return try withHandle { db in
            var opened: OpaquePointer?
            let code = sqlite3_blob_open(db, schema, table, column, rowid, forWriting ? 1 : 0, &opened)
            try check(code)
            guard let handle = opened else { throw DatabaseError(misuse: "the blob was not opened") }
            blobCount &+= 1
            openBlobs[handle] = blobCount
            return OpenBlob(handle: handle, number: blobCount)
        }
    }

    /// Runs a call on an open blob and throws its error.
    func withBlob<T>(_ blob: OpenBlob?, _ body: (OpaquePointer) throws -> (Int32, T)) throws -> T {
        try withHandle { _ in
            guard let blob, openBlobs[blob.handle] == blob.number else { throw VaultError.blobExpired(nil) }
            let (code, result) = try body(blob.handle)
            if code & 0xff == SQLITE_ABORT {
                do { try check(code) } catch { throw VaultError.blobExpired(error) }
            }
            try check(code)
            return result
        }
    }

    /// Closes a blob, unless it is closed (`sqlite3_blob_close`), and returns the engine's code. Called under the lock.
    @discardableResult
    func closeBlob(_ blob: OpenBlob) -> Int32 {
        guard openBlobs[blob.handle] == blob.number else { return SQLITE_OK }
        openBlobs[blob.handle] = nil
        return sqlite3_blob_close(blob.handle)
    }

    /// Closes all blobs: using one of them throws from now on. Called when an access ends whose closure may have kept one.
    package func closeBlobs() {
        for handle in openBlobs.keys { sqlite3_blob_close(handle) }
        openBlobs = [:]
    }

    /// Reports a write through a blob, for which the engine calls no hook. Called under the lock.
    func noteBlobWrite(schema: String, table: String, rowid: Int64) {
        blobWrites &+= 1
        authorizer.observer?.didWriteBlob(schema: schema, table: table, rowid: rowid)
    }
}

extension Connection {
    /// The statements in the middle of their rows (`sqlite3_stmt_busy`). Called under the lock.
    package static func busyStatements(of db: OpaquePointer) -> [OpaquePointer] {
        var busy: [OpaquePointer] = []
        var statement = sqlite3_next_stmt(db, nil)
        while let current = statement {
            if sqlite3_stmt_busy(current) != 0 { busy.append(current) }
            statement = sqlite3_next_stmt(db, current)
        }
        return busy
    }

    /// Ends a session (`sqlite3session_delete`). Called under the lock.
    func deleteSession(_ session: UnsafeMutableRawPointer) {
        lv_session_delete(session)
        sessions -= 1
    }
}

extension VaultError.Code {
    /// The row of an open blob was changed or deleted, or the transaction or access in which it was opened has ended.
    public static let blobExpired = Self(rawValue: "blob-expired")
    /// The bytes are not all within the blob, whose size cannot change while it is open.
    public static let blobRange = Self(rawValue: "blob-range")
}

extension VaultError {
    /// An error about a blob that can no longer be used.
    package static func blobExpired(_ cause: (any Error)?) -> VaultError {
        VaultError(
            .blobExpired, "The row of the blob was changed, or its transaction or access has ended",
            remedy: "Open the blob again.", cause: cause)
    }
}
