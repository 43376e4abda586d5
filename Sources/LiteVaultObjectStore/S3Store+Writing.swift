internal import Foundation
public import LiteVaultBackup

extension S3Store {
    /// The header that names one write: how an object of ours is known when the answer to its write was lost.
    static let mark = "x-amz-meta-litevault-write"

    /// Stores the bytes by one request.
    @discardableResult
    public func put(_ name: String, bytes: [UInt8], condition: PutCondition) async throws -> ObjectTag {
        try ObjectName.validate(name)
        return try await put(name, .bytes(bytes), condition)
    }

    /// Streams the file, in parts where it is large.
    @discardableResult
    public func put(_ name: String, file path: String, condition: PutCondition) async throws -> ObjectTag {
        try ObjectName.validate(name)
        let file = try LocalFile(reading: path)
        let size = try file.size()
        if size > max(settings.partSize, 5 << 20) {
            return try await putParts(name, file, size, condition)
        }
        return try await put(name, .file(FileSlice(file: file, start: 0, count: size)), condition)
    }

    private func put(_ name: String, _ body: S3Request.Body, _ condition: PutCondition) async throws -> ObjectTag {
        let mark = UUID().uuidString.lowercased()
        var request = request("PUT", name)
        request.headers = Self.headers(condition) + [(Self.mark, mark), ("content-type", "application/octet-stream")]
        request.body = body
        return try await written(name, mark, condition) {
            try await client.send(request) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                return Self.tag(answer.headers["etag"])
            }
        }
    }

    /// The headers of a condition.
    static func headers(_ condition: PutCondition) -> [(String, String)] {
        switch condition {
        case .none: []
        case .absent: [("if-none-match", "*")]
        case .unchanged(let tag): [("if-match", "\"\(tag.text)\"")]
        }
    }

    /// Runs a write. Where it is refused after an attempt whose outcome is not known, looks whether it was that attempt
    /// which made the difference.
    func written(
        _ name: String, _ mark: String, _ condition: PutCondition, _ write: () async throws -> ObjectTag
    ) async throws -> ObjectTag {
        let path = "\(location)/\(name)"
        do {
            let tag = try await write()
            guard tag.text.isEmpty else { return tag }
            guard let stored = try await attributes(name) else {
                throw BackupError(.io, "the server took the object, but does not have it", path: path)
            }
            return stored.tag
        } catch let failure as S3Failure {
            if failure.isRepeated, let tag = try await find(name, mark) { return tag }
            let isGone = if case .unchanged = condition { failure.isMissing } else { false }
            if failure.isConflict || isGone {
                let text = condition == .absent ? "exists already" : "was changed by somebody else"
                throw BackupError(.conflict, text, path: path)
            }
            throw failure.backupError(path)
        }
    }

    /// The tag of the object, if the write of that mark made it.
    private func find(_ name: String, _ mark: String) async throws -> ObjectTag? {
        do {
            return try await sending(request("HEAD", name)) { answer in
                answer.headers[Self.mark] == mark ? Self.tag(answer.headers["etag"]) : nil
            }
        } catch let error as BackupError where error.code == .missing {
            return nil
        }
    }
}
