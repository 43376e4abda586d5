internal import Foundation
internal import LiteVaultBackup

extension S3Store {
    /// Parts that are sent at the same time.
    private static let width = 3

    /// Stores a file in parts. Where that fails the parts are given up, so that nobody pays for them.
    func putParts(_ name: String, _ file: LocalFile, _ size: Int64, _ condition: PutCondition) async throws
        -> ETag
    {
        // Not every server keeps a condition when parts are joined.
        if condition == .absent, try await attributes(name) != nil {
            throw BackupError(.conflict, "exists already", path: "\(location)/\(name)")
        }
        let mark = UUID().uuidString.lowercased()
        let upload = try await begin(name, mark)
        do {
            let tags = try await send(name, upload, file, size)
            return try await written(name, mark, condition) { try await join(name, upload, tags, $0) }
        } catch {
            // Also when the task was cancelled: the request must go out all the same.
            await Task { try? await abort(name, upload) }.value
            throw error
        }
    }

    private func begin(_ name: String, _ mark: String) async throws -> String {
        var request = request("POST", name)
        request.query = [("uploads", "")]
        request.headers = [(Self.mark, mark), ("content-type", "application/octet-stream")]
        return try await sending(request) { answer in
            guard let id = try await answer.document("InitiateMultipartUploadResult")["UploadId"], !id.isEmpty else {
                throw S3Response.NotUnderstood()
            }
            return id
        }
    }

    private struct SentPart: Sendable {
        let number: Int
        let tag: String
    }

    /// Sends all parts, some at a time; returns their tags in order.
    private func send(_ name: String, _ upload: String, _ file: LocalFile, _ size: Int64) async throws -> [String] {
        // A store takes at most 10000 parts.
        let part = max(settings.partSize, 5 << 20, (size + 9_999) / 10_000)
        let count = Int((size + part - 1) / part)
        return try await withThrowingTaskGroup(of: SentPart.self) { group in
            var tags = [String](repeating: "", count: count)
            var started = 0
            func start() {
                guard started < count else { return }
                let number = started
                started += 1
                var request = request("PUT", name)
                request.query = [("partNumber", String(number + 1)), ("uploadId", upload)]
                let from = Int64(number) * part
                request.body = .file(FileSlice(file: file, start: from, count: min(part, size - from)))
                let sent = request
                group.addTask { [self] in
                    let tag = try await sending(sent) { answer in
                        _ = try await answer.bytes(upTo: 1 << 20)
                        guard let tag = answer.headers["etag"], !tag.isEmpty else { throw S3Response.NotUnderstood() }
                        return tag
                    }
                    return SentPart(number: number, tag: tag)
                }
            }
            for _ in 0..<Self.width { start() }
            while let part = try await group.next() {
                tags[part.number] = part.tag
                start()
            }
            return tags
        }
    }

    private func join(
        _ name: String, _ upload: String, _ tags: [String], _ condition: [(String, String)]
    ) async throws -> ETag {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for (index, tag) in tags.enumerated() {
            let escaped = tag.replacingOccurrences(of: "&", with: "&amp;").replacingOccurrences(of: "<", with: "&lt;")
            text += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(escaped)</ETag></Part>"
        }
        text += "</CompleteMultipartUpload>"
        var request = request("POST", name)
        request.query = [("uploadId", upload)]
        request.headers = condition + [("content-type", "application/xml")]
        request.body = .bytes(Array(text.utf8))
        return try await client.send(request) { answer in
            // The status is sent before the work is done: a failure then comes with status 200.
            let bytes = try await answer.bytes(upTo: 1 << 20)
            guard let tree = XMLTree(bytes) else { throw S3Response.NotUnderstood() }
            if tree.name == "Error" {
                throw S3Failure(
                    status: 500, headers: answer.headers, body: bytes, now: Date().timeIntervalSince1970)
            }
            // Servers differ in how they call the document.
            guard tree.name.hasPrefix("CompleteMultipartUpload") else { throw S3Response.NotUnderstood() }
            return Self.tag(tree["ETag"])
        }
    }

    /// Ends an upload; one that is not there any more is ended.
    func abort(_ name: String, _ upload: String) async throws {
        var request = request("DELETE", name)
        request.query = [("uploadId", upload)]
        do {
            try await client.send(request) { answer in _ = try await answer.bytes(upTo: 1 << 20) }
        } catch let failure as S3Failure where failure.status == 404 {
            return
        }
    }
}
