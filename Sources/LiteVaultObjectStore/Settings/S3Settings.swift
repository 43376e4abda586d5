internal import Foundation
internal import LiteVaultBackup

/// Which bucket, and how it is reached.
///
/// What is left nil is taken from the environment and the profile of the AWS tools.
public struct S3Settings: Sendable {
    /// The bucket's name.
    public var bucket: String
    /// What stands before the names of all objects, without slashes at its ends; may be empty.
    public var prefix: String
    /// The server, as `https://HOST[:PORT]`; nil takes `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, the profile's
    /// `endpoint_url`, else Amazon's server of the region.
    public var endpoint: String?
    /// The region; nil takes `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, else `us-east-1`.
    public var region: String?
    /// Whether the bucket is a part of the path instead of the host's name. Where the host's name can not carry it (an
    /// address, a bucket with dots) it is a part of the path in any case.
    public var usesPathStyle = false
    /// The profile of the shared files; nil takes `AWS_PROFILE`, else `default`.
    public var profile: String?
    /// Files that are larger are stored in parts of at least this size, in bytes; 5 MiB at least. A full pack, which is a little
    /// larger than 32 MiB, goes out in one request.
    public var partSize: Int64 = 64 << 20
    /// A folder of this machine where it is remembered which conditional writes the server keeps; nil tries that out each time.
    public var cacheFolder: String?
    /// How often a request is made before its failure is told.
    public var attempts = 7
    /// Seconds that a server may stay silent before the request is made again.
    public var timeout = 60.0
    /// Seconds that a store spends in all on requests that fail and on pauses after them, over all its requests, before a
    /// failure is told instead of tried again. Requests that succeed give some of them back, so that single failures of a
    /// long operation do not add up.
    public var patience = 300.0
    /// Seconds before the second attempt, at most; doubled with each further one.
    package var firstPause = 0.2
    /// This machine's clock, in seconds since 1970; another one for tests.
    package var clock: @Sendable () -> Double = { Date().timeIntervalSince1970 }
    /// Objects in a page of a listing, for tests; nil leaves it to the server.
    package var pageSize: Int?
    /// Names that are not looked up, for tests.
    package var hosts: [String: String] = [:]

    /// The bucket and prefix of `s3://BUCKET/PREFIX`.
    ///
    /// - Throws: `BackupError` `config` when the text is not of that form, or has a prefix with other characters than
    ///   ASCII letters, digits, `-`, `_`, `.` and `/`.
    public init(url: String) throws {
        guard url.lowercased().hasPrefix("s3://") else {
            throw BackupError(.config, "is no object store", path: url, remedy: "Write it as s3://BUCKET/PREFIX.")
        }
        let parts = url.dropFirst(5).split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let bucket = parts.first.map(String.init) ?? ""
        guard Self.isBucket(bucket) else {
            throw BackupError(
                .config, "does not name a bucket", path: url,
                remedy: "Write it as s3://BUCKET/PREFIX; credentials and hosts have no place in it.")
        }
        var prefix = parts.count > 1 ? parts[1] : ""
        while prefix.hasSuffix("/") { prefix.removeLast() }
        self.bucket = bucket
        self.prefix = String(prefix)
        if !prefix.isEmpty {
            do {
                try ObjectName.validate(self.prefix)
            } catch {
                throw BackupError(
                    .config, "has a prefix that can not be used", path: url,
                    remedy: "Use letters, digits, '-', '_', '.' and single slashes; no part starts with a dot.")
            }
        }
    }

    /// As it is written: `s3://BUCKET/PREFIX`.
    public var location: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }

    private static func isBucket(_ name: String) -> Bool {
        (3...255).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }
}
