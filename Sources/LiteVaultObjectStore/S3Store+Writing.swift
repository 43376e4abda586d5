public import LiteVaultBackup
internal import LiteVaultSystem

extension S3Store {
    /// The header with the ID of one write: it tells whether our write took effect when its response was lost.
    static let writeIDHeader = "x-amz-meta-litevault-write"

    /// Stores the bytes in one request.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        return try await put(name, .bytes(bytes), condition)
    }

    /// Streams the file; a large file goes out as a multipart upload.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        let file = try LocalFile(reading: path)
        let size = try file.size()
        if size > max(settings.partSize, 5 << 20) {
            return try await putMultipart(name, file, size, condition)
        }
        return try await put(name, .file(FileSlice(file: file, start: 0, count: size)), condition)
    }

    private func put(_ name: String, _ body: HTTPRequest.Body, _ condition: PutCondition) async throws -> ETag {
        let writeID = UUID().uuidString.lowercased()
        var request = request("PUT", name)
        request.headers = [(Self.writeIDHeader, writeID), ("content-type", "application/octet-stream")]
        request.headers += try await uploadHeaders(name)
        request.body = body
        let unconditional = request
        let tag = try await write(name, writeID, condition) { headers in
            var request = unconditional
            request.headers += headers
            return try await client.send(request) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                return Self.tag(answer.headers["etag"])
            }
        }
        try await confirmUpload(name)
        return tag
    }

    /// Sends a write with the headers of its condition, as the server expects them. Without conditional writes, the object's
    /// tag is compared before it is replaced.
    ///
    /// - Throws: `VaultError` `conflict` when the condition does not hold.
    func write(
        _ name: String, _ writeID: String, _ condition: PutCondition,
        _ send: (_ headers: [(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        guard case .unchanged(let tag) = condition else {
            // A server that does not implement the condition may fail each write that has it (501). A writer of a repository has
            // found that out before its first pack.
            if condition == .absent, await probe.known() == .unsupported {
                guard try await attributes(name) == nil else {
                    throw VaultError(.conflict, "already exists", path: "\(location)/\(name)")
                }
                return try await attempt(name, writeID, .none, [], send)
            }
            let headers = condition == .absent ? [("if-none-match", "*")] : []
            return try await attempt(name, writeID, condition, headers, send)
        }
        let support = try await conditionalWriteSupport()
        do {
            return try await replace(name, writeID, tag, support, send)
        } catch let error as VaultError where error.code == .conflict && support != .unsupported {
            // Versioning may have been enabled since, or the server replaced: the tag is then compared differently.
            guard try await attributes(name)?.tag == tag else { throw error }
            await probe.invalidate(support)
            let current = try await conditionalWriteSupport()
            guard current != support else { throw error }
            return try await replace(name, writeID, tag, current, send)
        }
    }

    private func replace(
        _ name: String, _ writeID: String, _ tag: ETag, _ support: ConditionalWriteSupport,
        _ send: ([(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        if support != .unsupported {
            return try await attempt(name, writeID, .unchanged(tag), [Self.ifMatch(tag, support)], send)
        }
        guard try await attributes(name)?.tag == tag else {
            throw VaultError(.conflict, "the object was changed by another writer", path: "\(location)/\(name)")
        }
        return try await attempt(name, writeID, .none, [], send)
    }

    /// Sends the write once. When it is refused after an attempt with an unknown outcome, finds out whether that attempt had
    /// succeeded.
    private func attempt(
        _ name: String, _ writeID: String, _ condition: PutCondition, _ headers: [(String, String)],
        _ send: ([(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        let path = "\(location)/\(name)"
        do {
            let tag = try await send(headers)
            guard tag.value.isEmpty else { return tag }
            guard let stored = try await attributes(name) else {
                throw VaultError(.io, "the upload was acknowledged, but the object is missing", path: path)
            }
            return stored.tag
        } catch let failure as S3Failure {
            if failure.isRepeated, let tag = try await tag(of: name, writtenBy: writeID) { return tag }
            if let refused = optionRefused(failure, name) { throw refused }
            let isGone = if case .unchanged = condition { failure.isMissing } else { false }
            var hasLost = failure.isConflict && condition != .none || isGone
            // Ceph's gateway answers the losers of a race with 500, and write-once stores with a denial: the object decides.
            if !hasLost, failure.status == 500 || condition == .absent && failure.isDenied {
                hasLost = try await !holds(condition, name)
            }
            if hasLost {
                let text = condition == .absent ? "already exists" : "the object was changed by another writer"
                throw VaultError(.conflict, text, path: path)
            }
            // Without a condition, only replacing the object can have been denied.
            if condition == .none, failure.isConflict || failure.isDenied, try await attributes(name) != nil {
                throw replacementDenied(failure.summary, name)
            }
            if case .unchanged = condition, failure.isDenied { throw replacementDenied(failure.summary, name) }
            throw failure.vaultError(path)
        }
    }

    /// Whether a condition holds now. No condition always holds.
    private func holds(_ condition: PutCondition, _ name: String) async throws -> Bool {
        switch condition {
        case .none: true
        case .absent: try await attributes(name) == nil
        case .unchanged(let tag): try await attributes(name)?.tag == tag
        }
    }

    /// The tag of the object if the write with that ID made it; nil otherwise.
    private func tag(of name: String, writtenBy writeID: String) async throws -> ETag? {
        try await head(name) { $0.headers[Self.writeIDHeader] == writeID ? Self.tag($0.headers["etag"]) : nil }
    }
}
