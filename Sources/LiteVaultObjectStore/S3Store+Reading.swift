public import LiteVaultBackup
internal import LiteVaultSystem

extension S3Store {
    /// Reads the object into memory, up to 64 MiB.
    public func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    /// Reads the object into memory if it has at most `limit` bytes.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try ObjectName.validate(name)
        let request = request("GET", name)
        return try await perform(request) { answer in
            do {
                return try await answer.bytes(upTo: limit)
            } catch is HTTPResponse.TooLarge {
                throw VaultError.tooLarge(limit, path: request.location)
            }
        }
    }

    /// Reads a range of the object's bytes.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try ObjectName.validate(name)
        guard !range.isEmpty else { return [] }
        var request = request("GET", name)
        request.headers = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        let path = request.location
        return try await perform(request, accepting: { $0 == 416 }) { answer in
            let short = VaultError(.damaged, "the object is shorter than \(range.upperBound) bytes", path: path)
            if answer.status == 416 { throw short }
            if answer.status != 206 {
                guard let bytes = try await Self.bytes(range, of: answer) else { throw short }
                return bytes
            }
            if let total = answer.headers["content-range"]?.split(separator: "/").last.flatMap({ Int64($0) }),
                total < range.upperBound
            {
                throw short
            }
            let bytes: [UInt8]
            do { bytes = try await answer.bytes(upTo: range.count) } catch is HTTPResponse.TooLarge {
                throw VaultError(
                    .io, "the object store returned more bytes than it was asked for", path: path,
                    remedy: "Check the endpoint, and what is between it and this machine.")
            }
            guard bytes.count == range.count else { throw S3Response.Truncated() }
            return bytes
        }
    }

    private struct IsRead: Error {}

    /// A range of the answer of a server without range requests, which sends the whole object; nil if that is shorter.
    private static func bytes(_ range: Range<Int64>, of answer: HTTPResponse) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        var offset: Int64 = 0
        do {
            try await answer.forEachChunk { chunk in
                let start = max(range.lowerBound - offset, 0)
                let end = min(range.upperBound - offset, Int64(chunk.count))
                if start < end { bytes += UnsafeRawBufferPointer(rebasing: chunk[Int(start)..<Int(end)]) }
                offset += Int64(chunk.count)
                // What follows is not waited for.
                if offset >= range.upperBound { throw IsRead() }
            }
        } catch is IsRead {
            return bytes
        }
        return nil
    }

    /// Streams the object into a new file.
    public func fetch(_ name: String, into path: String) async throws {
        try await fetch(name, into: path, upTo: .max)
    }

    /// Streams the object into a new file if it has at most `limit` bytes.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try ObjectName.validate(name)
        var created: LocalFile?
        do {
            try await perform(request("GET", name)) { answer in
                // A further attempt begins again.
                let file = try created ?? LocalFile(creating: path)
                created = file
                try file.truncate(to: 0)
                var offset: Int64 = 0
                try await answer.forEachChunk { chunk in
                    guard Int64(chunk.count) <= limit - offset else {
                        throw VaultError.tooLarge(Int(limit), path: "\(self.location)/\(name)")
                    }
                    try file.write(chunk, at: offset)
                    offset += Int64(chunk.count)
                }
            }
        } catch {
            if created != nil { unlink(path) }
            throw error
        }
    }

    /// The object's size, modification time and tag (a HEAD request); nil when it does not exist.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try ObjectName.validate(name)
        return try await head(name) { answer in
            guard let size = answer.length, (0...ReadLimits.objectBytes).contains(size),
                let modified = answer.headers["last-modified"].flatMap(HTTPDate.date)
            else { throw S3Response.Malformed() }
            return ObjectAttributes(name: name, size: size, modified: modified, tag: Self.tag(answer.headers["etag"]))
        }
    }

    /// What the headers of the object say; nil if it does not exist.
    func head<T>(_ name: String, _ receive: (HTTPResponse) throws -> T?) async throws -> T? {
        do { return try await perform(request("HEAD", name)) { try receive($0) } } catch let error as VaultError
            where error.code == .missing
        { return nil }
    }

    /// Lists the objects whose names start with `prefix`, page by page, each once, sorted by name.
    ///
    /// - Throws: `VaultError` `unsupported` if the server has further pages and does not say where the next one begins, as one without
    ///   ListObjectsV2; `io` if the listing is malformed or does not end.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try await pages(prefix, after: nil, before: nil)
    }

    /// Lists from behind `first` (`start-after`), and ends with the page that has a name that is not before `end`.
    public func list(_ prefix: String, after first: String, before end: String?) async throws -> [ObjectAttributes] {
        try await pages(prefix, after: first, before: end)
            .filter { ObjectName.isBetween($0.name, first, end) }
    }

    private func pages(_ prefix: String, after first: String?, before end: String?) async throws -> [ObjectAttributes] {
        try ObjectName.validate(prefix: prefix)
        if let first { try ObjectName.validate(prefix: first) }
        let root = settings.prefix.isEmpty ? "" : settings.prefix + "/"
        var found: [ObjectAttributes] = []
        var next: String?
        var emptyPages = 0
        let budget = ListingBudget(location, entries: settings.listedEntries)
        repeat {
            var page = S3Request(method: "GET", key: nil, location: location)
            page.query = [("list-type", "2"), ("prefix", root + prefix), ("encoding-type", "url")]
            if let first { page.query.append(("start-after", root + first)) }
            if let size = settings.pageSize { page.query.append(("max-keys", String(size))) }
            if let next { page.query.append(("continuation-token", next)) }
            let tree = try await perform(page) { answer in try await answer.document("ListBucketResult") }
            let isEncoded = tree["EncodingType"] == "url"
            // Also those of others, and pages without any: a listing must end.
            try budget.spend(max(tree.all("Contents").count, 1))
            for entry in tree.all("Contents") {
                guard let text = entry["Key"], let key = isEncoded ? URIEncoding.decode(text) : text,
                    let size = entry["Size"].flatMap({ Int64($0) }), (0...ReadLimits.objectBytes).contains(size),
                    let modified = entry["LastModified"].flatMap(HTTPDate.isoDate)
                else {
                    throw VaultError(.io, "the object store returned a malformed listing", path: location)
                }
                guard key.hasPrefix(root) else { continue }
                let name = String(key.dropFirst(root.count))
                // Names that no repository uses belong to other objects.
                guard ObjectName.isValid(name) else { continue }
                found.append(
                    ObjectAttributes(name: name, size: size, modified: modified, tag: Self.tag(entry["ETag"])))
            }
            // A listing must make progress, too.
            emptyPages = tree.all("Contents").isEmpty ? emptyPages + 1 : 0
            guard emptyPages < 100 else {
                throw VaultError(.io, "the listing of the object store does not end", path: location)
            }
            let token = try nextPage(tree, "NextContinuationToken")
            guard token == nil || token != next else {
                throw VaultError(.io, "the object store returned the same page of its listing twice", path: location)
            }
            next = token
            if let end, let last = found.last, !last.name.utf8.lexicographicallyPrecedes(end.utf8) { break }
        } while next != nil
        return found.asListing
    }

    /// Where the next page of a listing begins; nil after the last one.
    ///
    /// - Parameter element: the element of the page that says so.
    /// - Throws: `VaultError` `unsupported` if there are further pages, and the server does not say where the next one begins.
    func nextPage(_ tree: XMLTree, _ element: String) throws -> String? {
        guard tree["IsTruncated"] == "true" else { return nil }
        if let place = tree[element], !place.isEmpty { return place }
        throw VaultError(
            .unsupported, "the server returned a part of its listing, without the \(element) that leads to the rest",
            path: location,
            remedy: "Use a server that supports all pages of ListObjectsV2.")
    }
}
