internal import Foundation
public import LiteVaultBackup

extension S3Store {
    /// The header that names one write: how an object of ours is known when the answer to its write was lost.
    static let mark = "x-amz-meta-litevault-write"

    /// Stores the bytes by one request.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        return try await put(name, .bytes(bytes), condition)
    }

    /// Streams the file, in parts where it is large.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ETag {
        try ObjectName.validate(name)
        let file = try LocalFile(reading: path)
        let size = try file.size()
        if size > max(settings.partSize, 5 << 20) {
            return try await putParts(name, file, size, condition)
        }
        return try await put(name, .file(FileSlice(file: file, start: 0, count: size)), condition)
    }

    private func put(_ name: String, _ body: S3Request.Body, _ condition: PutCondition) async throws -> ETag {
        let mark = UUID().uuidString.lowercased()
        var request = request("PUT", name)
        request.headers = [(Self.mark, mark), ("content-type", "application/octet-stream")]
        request.body = body
        let unconditional = request
        return try await written(name, mark, condition) { headers in
            var request = unconditional
            request.headers += headers
            return try await client.send(request) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                return Self.tag(answer.headers["etag"])
            }
        }
    }

    /// Runs a write with the headers of its condition, in the spelling that the server keeps; where it keeps none, a version is
    /// looked at before it is replaced. Where the write is refused after an attempt whose outcome is not known, looks whether
    /// it was that attempt which made the difference.
    func written(
        _ name: String, _ mark: String, _ condition: PutCondition,
        _ write: (_ headers: [(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        guard case .unchanged(let tag) = condition else {
            return try await once(name, mark, condition, condition == .absent ? [("if-none-match", "*")] : [], write)
        }
        let kept = try await conditions()
        do {
            return try await conditional(name, mark, tag, kept, write)
        } catch let error as BackupError where error.code == .conflict && kept != .neither {
            // A bucket that has come to keep versions, or a server that was replaced by another, may compare otherwise.
            guard try await attributes(name)?.tag == tag else { throw error }
            await probe.forget(kept)
            let now = try await conditions()
            guard now != kept else { throw error }
            return try await conditional(name, mark, tag, now, write)
        }
    }

    private func conditional(
        _ name: String, _ mark: String, _ tag: ETag, _ kept: KeptConditions,
        _ write: ([(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        if kept != .neither {
            return try await once(name, mark, .unchanged(tag), [Self.ifMatch(tag, kept)], write)
        }
        guard try await attributes(name)?.tag == tag else {
            throw BackupError(.conflict, "was changed by somebody else", path: "\(location)/\(name)")
        }
        return try await once(name, mark, .none, [], write)
    }

    private func once(
        _ name: String, _ mark: String, _ condition: PutCondition, _ headers: [(String, String)],
        _ write: ([(String, String)]) async throws -> ETag
    ) async throws -> ETag {
        let path = "\(location)/\(name)"
        do {
            let tag = try await write(headers)
            guard tag.value.isEmpty else { return tag }
            guard let stored = try await attributes(name) else {
                throw BackupError(.io, "the server took the object, but does not have it", path: path)
            }
            return stored.tag
        } catch let failure as S3Failure {
            if failure.isRepeated, let tag = try await find(name, mark) { return tag }
            let isGone = if case .unchanged = condition { failure.isMissing } else { false }
            var hasLost = failure.isConflict && condition != .none || isGone
            // Ceph's gateway answers losers of a race with 500, and stores that replace nothing deny it: what is there tells.
            if !hasLost, failure.status == 500 || condition == .absent && failure.isDenied {
                hasLost = try await !holds(condition, name)
            }
            if hasLost {
                let text = condition == .absent ? "exists already" : "was changed by somebody else"
                throw BackupError(.conflict, text, path: path)
            }
            // With no condition nothing else can be meant.
            if condition == .none, failure.isConflict || failure.isDenied, try await attributes(name) != nil {
                throw replacementRefusal(failure.said, name)
            }
            if case .unchanged = condition, failure.isDenied { throw replacementRefusal(failure.said, name) }
            throw failure.backupError(path)
        }
    }

    /// Whether a condition holds now. Without one there is nothing that could not hold.
    private func holds(_ condition: PutCondition, _ name: String) async throws -> Bool {
        switch condition {
        case .none: true
        case .absent: try await attributes(name) == nil
        case .unchanged(let tag): try await attributes(name)?.tag == tag
        }
    }

    /// The tag of the object, if the write of that mark made it.
    private func find(_ name: String, _ mark: String) async throws -> ETag? {
        do {
            return try await sending(request("HEAD", name)) { answer in
                answer.headers[Self.mark] == mark ? Self.tag(answer.headers["etag"]) : nil
            }
        } catch let error as BackupError where error.code == .missing {
            return nil
        }
    }
}
