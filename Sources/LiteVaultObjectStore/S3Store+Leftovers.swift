internal import Foundation
internal import LiteVaultBackup

extension S3Store {
    /// Seconds after which what an upload left is taken for abandoned: no upload of ours takes that long.
    private static let abandoned = 86_400.0
    /// Where versions before the first release tried out conditions, under a new name each time.
    private static let probes = "probe/"

    /// Ends the uploads in parts that processes which were killed have left: they cost money, and no listing shows them. Only
    /// those below the repository's prefix that began more than a day ago by the store's clock. Where the credentials may not
    /// see or end them, they stay.
    public func removeLeftovers() async throws -> Int {
        let now = try await now()
        var count = 0
        for probe in try await list(Self.probes) where now - probe.modified > Self.abandoned {
            try await remove(probe.name)
            count += 1
        }
        do {
            for upload in try await uploads() where now - upload.began > Self.abandoned {
                try await abort(upload.name, upload.id)
                count += 1
            }
        } catch let failure as S3Failure
            where failure.isDenied || failure.status == 501 || failure.status == 404 || failure.status == 400
        {
            // Not every server keeps a list of them.
        }
        return count
    }

    private struct Upload {
        let name: String
        let id: String
        /// Seconds since 1970.
        let began: Double
    }

    private func uploads() async throws -> [Upload] {
        let root = settings.prefix.isEmpty ? "" : settings.prefix + "/"
        var found: [Upload] = []
        var next: (key: String, id: String)?
        repeat {
            var page = S3Request(method: "GET", key: nil, location: location)
            page.query = [("uploads", ""), ("prefix", root), ("encoding-type", "url")]
            if let size = settings.pageSize { page.query.append(("max-uploads", String(size))) }
            if let next { page.query += [("key-marker", next.key), ("upload-id-marker", next.id)] }
            let tree = try await client.send(page) { answer in
                try await answer.document("ListMultipartUploadsResult")
            }
            let isEncoded = tree["EncodingType"] == "url"
            for entry in tree.all("Upload") {
                guard let text = entry["Key"], let key = isEncoded ? URIEncoding.decode(text) : text,
                    let id = entry["UploadId"], let began = entry["Initiated"].flatMap(HTTPDate.isoSeconds),
                    key.hasPrefix(root)
                else { continue }
                let name = String(key.dropFirst(root.count))
                guard Self.isOurs(name) else { continue }
                found.append(Upload(name: name, id: id, began: began))
            }
            var following: (key: String, id: String)?
            if tree["IsTruncated"] == "true", let text = tree["NextKeyMarker"],
                let key = isEncoded ? URIEncoding.decode(text) : text, let id = tree["NextUploadIdMarker"]
            {
                following = (key, id)
            }
            if let next, let following, next == following { break }
            next = following
        } while next != nil
        return found
    }

    /// Whether an object of that name may be one that this package stores in parts.
    private static func isOurs(_ name: String) -> Bool {
        guard (try? ObjectName.validate(name)) != nil else { return false }
        return ["data/", "tree/", "segments/"].contains { name.hasPrefix($0) }
    }
}
