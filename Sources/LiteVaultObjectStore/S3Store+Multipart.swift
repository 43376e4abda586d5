internal import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

extension S3Store {
    /// Parts uploaded at the same time.
    private static let concurrency = 3

    /// Uploads a file in parts. On failure the upload is aborted, so that nobody pays for its parts.
    func putMultipart(_ name: String, _ file: LocalFile, _ size: Int64, _ condition: PutCondition) async throws
        -> ETag
    {
        // Not every server supports conditions on CompleteMultipartUpload.
        if condition == .absent, try await attributes(name) != nil {
            throw VaultError(.conflict, "already exists", path: "\(location)/\(name)")
        }
        let writeID = UUID().uuidString.lowercased()
        let upload = try await create(name, writeID)
        do {
            let tags = try await uploadParts(name, upload, file, size)
            let tag = try await write(name, writeID, condition) { try await complete(name, upload, tags, $0) }
            try await confirmUpload(name)
            return tag
        } catch {
            // In a task of its own: the request must be sent even when this task was cancelled.
            await Task { try? await abort(name, upload) }.value
            throw error
        }
    }

    private func create(_ name: String, _ writeID: String) async throws -> String {
        var request = request("POST", name)
        request.query = [("uploads", "")]
        request.headers = [(Self.writeIDHeader, writeID), ("content-type", "application/octet-stream")]
        request.headers += try await uploadHeaders(name)
        do {
            return try await client.send(request) { answer in
                guard let id = try await answer.document("InitiateMultipartUploadResult")["UploadId"], !id.isEmpty
                else { throw S3Response.Malformed() }
                return id
            }
        } catch let failure as S3Failure {
            throw optionRefused(failure, name) ?? failure.vaultError(request.location)
        }
    }

    /// Uploads all parts, a few at a time, and returns their tags in order.
    private func uploadParts(_ name: String, _ upload: String, _ file: LocalFile, _ size: Int64) async throws
        -> [String]
    {
        // S3 allows at most 10,000 parts.
        let part = max(settings.partSize, 5 << 20, (size + 9_999) / 10_000)
        let count = Int((size + part - 1) / part)
        return try await concurrently(Array(0..<count), width: Self.concurrency) { [self] number -> String in
            var sent = request("PUT", name)
            sent.query = [("partNumber", String(number + 1)), ("uploadId", upload)]
            let from = Int64(number) * part
            sent.body = .file(FileSlice(file: file, start: from, count: min(part, size - from)))
            return try await perform(sent) { answer in
                _ = try await answer.bytes(upTo: 1 << 20)
                guard let tag = answer.headers["etag"], !tag.isEmpty else { throw S3Response.Malformed() }
                return tag
            }
        }
    }

    private func complete(
        _ name: String, _ upload: String, _ tags: [String], _ condition: [(String, String)]
    ) async throws -> ETag {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for (index, tag) in tags.enumerated() {
            text += "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(Quoting.xml(tag))</ETag></Part>"
        }
        text += "</CompleteMultipartUpload>"
        var request = request("POST", name)
        request.query = [("uploadId", upload)]
        request.headers = condition + [("content-type", "application/xml")]
        request.body = .bytes(Array(text.utf8))
        return try await client.send(request) { answer in
            // S3 sends the status before the work is done: a failure may come with status 200.
            let bytes = try await answer.bytes(upTo: 1 << 20)
            guard let tree = XMLTree(bytes) else { throw S3Response.Malformed() }
            if tree.name == "Error" {
                throw S3Failure(status: 500, headers: answer.headers, body: bytes, signed: Date(), now: Date())
            }
            // Servers name the document differently.
            guard tree.name.hasPrefix("CompleteMultipartUpload") else { throw S3Response.Malformed() }
            return Self.tag(tree["ETag"])
        }
    }

    /// Aborts an upload. One that no longer exists is ignored.
    private func abort(_ name: String, _ upload: String) async throws {
        var request = request("DELETE", name)
        request.query = [("uploadId", upload)]
        do {
            try await client.send(request) { answer in _ = try await answer.bytes(upTo: 1 << 20) }
        } catch let failure as S3Failure where failure.status == 404 {
            return
        }
    }
}

extension S3Store {
    /// The age from which an unfinished upload counts as abandoned: no upload of ours takes that long.
    private static let abandonedAge = Duration.seconds(86_400)
    /// Where versions before the first release probed conditional writes, under a new name each time.
    private static let probes = "probe/"

    /// Aborts multipart uploads that killed processes left behind: they cost money, and no listing of objects shows them.
    ///
    /// Only uploads below the repository's prefix that began more than a day ago by the store's clock are aborted. Uploads
    /// that the credentials may not list or abort stay.
    public func removeLeftovers() async throws -> Int {
        let abandoned = try await now() - Self.abandonedAge.seconds
        var count = 0
        for probe in try await list(Self.probes) where probe.modified < abandoned {
            try await remove(probe.name)
            count += 1
        }
        do {
            for upload in try await uploads() where upload.began < abandoned {
                try await abort(upload.name, upload.id)
                count += 1
            }
        } catch let failure as S3Failure
            where failure.isDenied || failure.status == 501 || failure.status == 404 || failure.status == 400
        {
            // Not every server lists uploads.
        }
        return count
    }

    private func uploads() async throws -> [(name: String, id: String, began: Date)] {
        let root = settings.prefix.isEmpty ? "" : settings.prefix + "/"
        var found: [(name: String, id: String, began: Date)] = []
        var next: (key: String, id: String)?
        let budget = ListingBudget(location, entries: settings.listedEntries)
        var emptyPages = 0
        repeat {
            var page = S3Request(method: "GET", key: nil, location: location)
            page.query = [("uploads", ""), ("prefix", root), ("encoding-type", "url")]
            if let size = settings.pageSize { page.query.append(("max-uploads", String(size))) }
            if let next { page.query += [("key-marker", next.key), ("upload-id-marker", next.id)] }
            let tree = try await client.send(page) { answer in
                try await answer.document("ListMultipartUploadsResult")
            }
            let isEncoded = tree["EncodingType"] == "url"
            try budget.spend(max(tree.all("Upload").count, 1))
            emptyPages = tree.all("Upload").isEmpty ? emptyPages + 1 : 0
            // A part is enough, as below.
            if emptyPages == 100 { break }
            for entry in tree.all("Upload") {
                guard let text = entry["Key"], let key = isEncoded ? URIEncoding.decode(text) : text,
                    let id = entry["UploadId"], let began = entry["Initiated"].flatMap(HTTPDate.isoDate),
                    key.hasPrefix(root)
                else { continue }
                let name = String(key.dropFirst(root.count))
                guard Self.isOurs(name) else { continue }
                found.append((name, id, began))
            }
            // A part is enough: the rest is found once these are gone.
            let following = (try? nextPage(tree, "NextKeyMarker")).flatMap { key in
                tree["NextUploadIdMarker"].map { (key: isEncoded ? URIEncoding.decode(key) ?? key : key, id: $0) }
            }
            if let next, let following, next == following { break }
            next = following
        } while next != nil
        return found
    }

    /// Whether an object of that name may be one that this package uploads in parts.
    private static func isOurs(_ name: String) -> Bool {
        ObjectName.isValid(name) && ["data/", "tree/", "segments/"].contains { name.hasPrefix($0) }
    }
}
