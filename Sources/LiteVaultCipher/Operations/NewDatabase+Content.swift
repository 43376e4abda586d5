internal import LiteVaultCore

extension NewDatabase {
    /// Copies all content, and proves the copy. Works between any two formats.
    ///
    /// - Parameter source: inside a read transaction, or used by nobody else.
    func fill(from source: Connection, walMode: Bool, _ report: OperationProgress.Report) throws {
        try reporting {
            let size = try source.contentSize()
            let copy = try openForWriting()
            if key == nil { try copy.execute("PRAGMA page_size = \(try source.pageSize())") }
            var rows: Int64 = 0
            try ContentCopier(from: source, to: copy).copy { count in
                rows = count
                try report(.init(.copying, min(size, copy.contentSize()), of: size, .bytes))
            }
            try copy.close()
            try prove(against: source, rows: rows, walMode: walMode, report)
        }
    }

    /// Opens the copy again, as anybody would, and compares it with its source.
    private func prove(
        against source: Connection, rows: Int64, walMode: Bool, _ report: OperationProgress.Report
    ) throws {
        let copy = try open()
        try copy.prepareForOperation()
        try ContentComparator(source, copy).compare { try report(.init(.comparing, $0, of: rows, .rows)) }
        try check(copy, report)
        try finish(copy, walMode: walMode)
    }

    /// What the bytes on the disk are, and whether the structure is sound.
    func check(_ copy: Connection, _ report: OperationProgress.Report) throws {
        try report(.init(.checking, 0, of: nil, .pages))
        if case .broken(let complaint) = try copy.structure("integrity_check(1)") {
            throw VaultError(
                .damaged, "The copy did not pass the integrity check: \(complaint)", path: destination,
                remedy: "Verify the source. It is as it was.")
        }
        try copy.withHandle { handle in
            let file = try EngineFile(connection: handle, path: destination)
            let kind = try FileKind.classify(size: file.size()) { try file.read(at: $0, count: $1) }
            let isRight = key == nil ? kind == .plain : kind == .encryptedOrUnknown || kind == .plaintextHeader
            // A database without any content has no pages, and no kind.
            guard try isRight || (kind == .empty && copy.integer("page_count") == 0) else {
                throw VaultError(.internalFailure, "The copy turned out as \(kind.rawValue)", path: destination)
            }
            try authenticate(file, copy, report)
        }
    }

    private func authenticate(_ file: EngineFile, _ copy: Connection, _ report: OperationProgress.Report) throws {
        guard let key else { return }
        guard let authenticator = try PageAuthenticator.ifPossible(key: key, settings: settings, copy, file) else {
            return
        }
        let pages = try authenticator.report(
            size: file.size(), read: { try file.read(at: $0, count: $1) },
            progress: { try report(.init(.authenticating, Int64($0), of: Int64($1), .pages)) })
        guard pages.failureCount == 0, pages.trailingBytes == 0 else {
            throw VaultError(.internalFailure, "The pages of the copy do not authenticate", path: destination)
        }
    }

    /// The journal mode of the source; last, since until now nobody else could have had the file open.
    private func finish(_ copy: Connection, walMode: Bool) throws {
        if walMode { try copy.setJournalMode(.wal) }
        try copy.close()
    }
}

extension PageAuthenticator {
    /// An authenticator for the file of an open connection; nil where there is nothing to authenticate by: HMAC is off,
    /// or no digests are loaded.
    static func ifPossible(
        key: DatabaseKey, settings: CipherSettings, _ connection: Connection, _ file: EngineFile
    ) throws -> PageAuthenticator? {
        var held = try connection.cipherSettings()
        held.salt = settings.salt
        let layout = PageLayout(held, defaultCompatibility: 4)
        do {
            return try PageAuthenticator(key: key, layout: layout, fileSalt: file.read(at: 0, count: 16))
        } catch let error as VaultError where error.code == .unsupported {
            return nil
        }
    }
}
