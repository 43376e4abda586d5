public import LiteVaultBackup
internal import LiteVaultQuoting
package import LiteVaultSystem

/// A bucket, and how to reach it.
///
/// Values left nil are taken from the environment and profile of the AWS tools.
public struct S3Settings: Sendable {
    /// The bucket's name.
    public var bucket: String
    /// The prefix of all object names, without leading and trailing slashes; may be empty.
    public var prefix: String
    /// The endpoint, as `https://HOST[:PORT]`; nil takes `AWS_ENDPOINT_URL_S3`, `AWS_ENDPOINT_URL`, the profile's
    /// `endpoint_url`, else Amazon's endpoint of the region.
    public var endpoint: String?
    /// The region; nil takes `AWS_REGION`, `AWS_DEFAULT_REGION`, the profile's, else `us-east-1`.
    public var region: String?
    /// Whether the bucket is part of the path instead of the host name; false by default. It is always part of the path where
    /// a host name cannot contain it: with an IP address, or a bucket name with dots.
    public var usesPathStyle = false
    /// The profile of the shared files, which precedes keys in the environment; nil takes `AWS_PROFILE`, which does not, else
    /// `default`.
    public var profile: String?
    /// Larger files are uploaded in parts of at least this size, in bytes: 64 MiB by default, 5 MiB at least. A full pack has a
    /// little more than 32 MiB and goes out in one request.
    public var partSize: Int64 = 64 << 20
    /// How the server keeps what is uploaded: storage class, encryption at rest, object lock. By default as the bucket says.
    public var uploads = UploadOptions()
    /// A local directory where the conditional writes that the server supports are cached; nil probes the server each time.
    public var cacheDirectory: String?
    /// The proxy for all requests, as `http://HOST:PORT` or `https://HOST:PORT`, with `USER:PASSWORD@` where it wants them; `none`
    /// for no proxy. nil takes `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`.
    public var proxy: String? {
        get { hiddenProxy.text }
        set { hiddenProxy.text = newValue }
    }
    private var hiddenProxy = Hidden()
    /// How often a request is sent before it fails; 7 by default.
    public var attempts = 7
    /// How long a server may stay silent before the request is retried; 60 seconds by default.
    public var timeout = Duration.seconds(60)
    /// How long the store spends on failing requests and the pauses after them, over all its requests, before a failure is
    /// reported instead of retried; 5 minutes by default. Each successful request gives a twentieth back, so that
    /// single failures of a long operation do not add up.
    public var retryTimeLimit = Duration.seconds(300)
    /// The longest pause before the second attempt; doubled with each further one.
    package var firstPause = Duration.milliseconds(200)
    /// How long temporary credentials are used at least before a refusal that names no reason renews them.
    package var shortestUse = Duration.seconds(300)
    /// The local clock; tests replace it.
    package var clock: @Sendable () -> Date = { Date() }
    /// The number of objects in a page of a listing, for tests; nil leaves it to the server.
    package var pageSize: Int?
    /// The entries that one listing may have.
    package var listedEntries = ReadLimits.entries
    /// Host names with fixed addresses, for tests.
    package var hosts: [String: String] = [:]

    /// Creates settings for the bucket and prefix of a URL `s3://BUCKET/PREFIX`.
    ///
    /// - Throws: `VaultError` `config` if the URL has another form, or its prefix has characters other than ASCII letters,
    ///   digits, `-`, `_`, `.` and `/`.
    public init(url: String) throws {
        let address = try BucketAddress(url: url)
        (bucket, prefix) = (address.bucket, address.prefix)
    }

    /// The URL: `s3://BUCKET/PREFIX`.
    public var location: String { prefix.isEmpty ? "s3://\(bucket)" : "s3://\(bucket)/\(prefix)" }
}

/// A text that neither its description nor its mirror shows: it may contain a password.
private struct Hidden: Sendable, CustomStringConvertible, CustomReflectable {
    var text: String?

    var description: String { text == nil ? "nil" : "<redacted>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}

/// The address of the server, and where the bucket stands in a URL.
package struct Endpoint: Sendable, Equatable {
    /// `http` or `https`.
    package let scheme: String
    /// The `Host` header, with the port unless it is the scheme's default.
    package let host: String
    /// The path before an object's key: `/` or `/BUCKET/`, after the path of the server itself.
    package let root: String

    /// Creates the endpoint of a bucket on the server at `url`.
    ///
    /// - Throws: `VaultError` `config` if `url` is not the URL of a server.
    package init(url text: String, bucket: String, usesPathStyle: Bool) throws {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(),
            scheme == "http" || scheme == "https", let host = url.host, !host.isEmpty,
            url.user == nil, url.password == nil, url.query == nil, url.fragment == nil,
            let path = Self.path(url.percentEncodedPath)
        else {
            // The URL is not shown: it may contain a password.
            throw VaultError(
                .config, "invalid object-store endpoint",
                remedy:
                    "Write it as https://HOST, https://HOST:PORT or https://HOST/PATH, without credentials. The path consists of "
                    + "letters, digits, '-', '_', '.' and '~'.")
        }
        let usual = scheme == "https" ? 443 : 80
        let port = url.port.flatMap { $0 == usual ? nil : ":\($0)" } ?? ""
        self.scheme = scheme
        // Behind a path, a bucket in front of the host would be another place.
        if usesPathStyle || !path.isEmpty || !Self.canBeSubdomain(bucket, of: host) {
            self.host = host.lowercased() + port
            root = "\(path)/\(bucket)/"
        } else {
            self.host = "\(bucket).\(host.lowercased())\(port)"
            root = "/"
        }
    }

    /// The path of a server behind a proxy, without a slash at its end; nil if the signature could not be relied on: servers differ in
    /// how they encode other characters again, and what `..` leads to.
    private static func path(_ text: String) -> String? {
        let parts = text.split(separator: "/", omittingEmptySubsequences: true)
        let isPlain = parts.allSatisfy { part in
            part != "." && part != ".."
                && part.utf8.allSatisfy { Quoting.isLetterOrDigit($0) || "-_.~".utf8.contains($0) }
        }
        return isPlain ? parts.map { "/" + $0 }.joined() : nil
    }

    /// Whether the bucket can be part of the host name: wildcard certificates cover one label, and an IP address has none.
    private static func canBeSubdomain(_ bucket: String, of host: String) -> Bool {
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
