internal import Foundation
public import LiteVaultBackup

extension S3Store {
    /// Reads the object into memory.
    public func get(_ name: String) async throws -> [UInt8] { try await get(name, upTo: 64 << 20) }

    /// Reads the object into memory, if it is no larger.
    public func get(_ name: String, upTo limit: Int) async throws -> [UInt8] {
        try ObjectName.validate(name)
        let request = request("GET", name)
        return try await sending(request) { answer in
            do {
                return try await answer.bytes(upTo: limit)
            } catch is S3Response.TooLarge {
                throw BackupError.tooLarge(limit, path: request.location)
            }
        }
    }

    /// Reads a part of the object.
    public func get(_ name: String, range: Range<Int64>) async throws -> [UInt8] {
        try ObjectName.validate(name)
        guard !range.isEmpty else { return [] }
        var request = request("GET", name)
        request.headers = [("range", "bytes=\(range.lowerBound)-\(range.upperBound - 1)")]
        let path = request.location
        return try await sending(request, accepting: { $0 == 416 }) { answer in
            let short = BackupError(.damaged, "is shorter than \(range.upperBound) bytes", path: path)
            if answer.status == 416 { throw short }
            if answer.status != 206 {
                // A server that knows no ranges sends the whole object.
                let bytes = try await answer.bytes()
                guard bytes.count >= range.upperBound else { throw short }
                return Array(bytes[Int(range.lowerBound)..<Int(range.upperBound)])
            }
            if let total = answer.headers["content-range"]?.split(separator: "/").last.flatMap({ Int64($0) }),
                total < range.upperBound
            {
                throw short
            }
            let bytes = try await answer.bytes()
            guard bytes.count == range.count else { throw S3Response.CutOff() }
            return bytes
        }
    }

    /// Streams the object into a new file.
    public func fetch(_ name: String, into path: String) async throws {
        try await fetch(name, into: path, upTo: .max)
    }

    /// Streams the object into a new file, if it is no larger.
    public func fetch(_ name: String, into path: String, upTo limit: Int64) async throws {
        try ObjectName.validate(name)
        let made = CreatedFile(path)
        do {
            try await sending(request("GET", name)) { answer in
                let file = try made.emptied()
                var offset: Int64 = 0
                try await answer.forEachChunk { chunk in
                    guard Int64(chunk.count) <= limit - offset else {
                        throw BackupError.tooLarge(Int(limit), path: "\(self.location)/\(name)")
                    }
                    try file.write(chunk, at: offset)
                    offset += Int64(chunk.count)
                }
            }
        } catch {
            made.remove()
            throw error
        }
    }

    /// Asks for the object's head.
    public func attributes(_ name: String) async throws -> ObjectAttributes? {
        try ObjectName.validate(name)
        let request = request("HEAD", name)
        do {
            return try await sending(request) { answer in
                guard let size = answer.length, (0...Self.sizeLimit).contains(size),
                    let modified = answer.headers["last-modified"].flatMap(HTTPDate.seconds)
                else { throw S3Response.NotUnderstood() }
                return ObjectAttributes(
                    name: name, size: size, modified: modified, tag: Self.tag(answer.headers["etag"]))
            }
        } catch let error as BackupError where error.code == .missing {
            return nil
        }
    }

    /// Asks page by page.
    public func list(_ prefix: String) async throws -> [ObjectAttributes] {
        try ObjectName.validate(prefix: prefix)
        let root = settings.prefix.isEmpty ? "" : settings.prefix + "/"
        var found: [ObjectAttributes] = []
        var next: String?
        var emptyPages = 0
        repeat {
            var page = S3Request(method: "GET", key: nil, location: location)
            page.query = [("list-type", "2"), ("prefix", root + prefix), ("encoding-type", "url")]
            if let size = settings.pageSize { page.query.append(("max-keys", String(size))) }
            if let next { page.query.append(("continuation-token", next)) }
            let tree = try await sending(page) { answer in try await answer.document("ListBucketResult") }
            let isEncoded = tree["EncodingType"] == "url"
            for entry in tree.all("Contents") {
                guard let text = entry["Key"], let key = isEncoded ? URIEncoding.decode(text) : text,
                    let size = entry["Size"].flatMap({ Int64($0) }), (0...Self.sizeLimit).contains(size),
                    let modified = entry["LastModified"].flatMap(HTTPDate.isoSeconds)
                else {
                    throw BackupError(.io, "the object store lists what can not be understood", path: location)
                }
                guard key.hasPrefix(root) else { continue }
                let name = String(key.dropFirst(root.count))
                // What somebody else has put there is none of the repository's.
                guard (try? ObjectName.validate(name)) != nil else { continue }
                found.append(
                    ObjectAttributes(name: name, size: size, modified: modified, tag: Self.tag(entry["ETag"])))
            }
            // A listing that brings nothing, or never ends, is none.
            emptyPages = tree.all("Contents").isEmpty ? emptyPages + 1 : 0
            guard emptyPages < 100, found.count <= Self.listLimit else {
                throw BackupError(.io, "the object store lists without an end", path: location)
            }
            let token = tree["IsTruncated"] == "true" ? tree["NextContinuationToken"] : nil
            guard token == nil || token != next else {
                throw BackupError(.io, "the object store lists the same page again and again", path: location)
            }
            next = token
        } while next != nil
        return found.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Bytes of an object, and objects of a listing, at most.
    private static let sizeLimit: Int64 = 1 << 48
    private static let listLimit = 5_000_000
}

/// A file that is made by the first answer, and emptied for each further one.
private final class CreatedFile {
    private let path: String
    private var file: LocalFile?

    init(_ path: String) { self.path = path }

    func emptied() throws -> LocalFile {
        let file = try self.file ?? LocalFile(creating: path)
        self.file = file
        try file.truncate(to: 0)
        return file
    }

    func remove() {
        if file != nil { unlink(path) }
    }
}
