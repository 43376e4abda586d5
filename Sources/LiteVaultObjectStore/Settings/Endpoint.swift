internal import Foundation
internal import LiteVaultBackup

/// The server's address, and where in a URL the bucket stands.
package struct Endpoint: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The `Host` header: with the port where it is not the scheme's.
    package let host: String
    /// What stands before the object's key: `/` or `/BUCKET/`.
    package let root: String

    /// The address of a bucket on the server `url`.
    ///
    /// - Throws: `BackupError` `config` when `url` is none of a server.
    package init(url text: String, bucket: String, usesPathStyle: Bool) throws {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil, url.query == nil, url.fragment == nil,
            url.path.isEmpty || url.path == "/"
        else {
            // Not shown: somebody may have written a password into it.
            throw BackupError(
                .config, "the endpoint of the object store is no address of a server",
                remedy: "Write it as https://HOST or https://HOST:PORT, without a path and without credentials.")
        }
        let usual = scheme == "https" ? 443 : 80
        let port = url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        self.scheme = scheme
        if usesPathStyle || !Self.canCarry(bucket, host) {
            self.host = host.lowercased() + port
            root = "/\(bucket)/"
        } else {
            self.host = "\(bucket).\(host.lowercased())\(port)"
            root = "/"
        }
    }

    /// Amazon's server of a region.
    package static func amazon(_ region: String) -> String {
        "https://s3.\(region).amazonaws.com\(region.hasPrefix("cn-") ? ".cn" : "")"
    }

    /// Certificates cover one label before the server's name, and an address has no labels.
    private static func canCarry(_ bucket: String, _ host: String) -> Bool {
        let isLabel =
            (3...63).contains(bucket.utf8.count)
            && bucket.utf8.allSatisfy { byte in
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || byte == UInt8(ascii: "-")
            } && !bucket.hasPrefix("-") && !bucket.hasSuffix("-")
        let isAddress = host.contains(":") || host.utf8.allSatisfy { $0 == 46 || (48...57).contains($0) }
        return isLabel && !isAddress && host.lowercased() != "localhost"
    }
}
