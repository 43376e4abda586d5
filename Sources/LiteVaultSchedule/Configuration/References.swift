public import LiteVaultBackup
internal import LiteVaultQuoting
internal import LiteVaultSystem

/// A repository, and how to open it.
public struct RepositoryReference: Sendable, Hashable {
    /// An absolute path of a directory, `s3://BUCKET/PREFIX`, or `sftp://[USER@]HOST[:PORT]/PATH`.
    public var location: String {
        get { exactLocation.text }
        set { exactLocation = ExactText(newValue) }
    }
    /// Two directories whose names are canonically equal are two repositories.
    private var exactLocation: ExactText
    /// The URL of the object store; nil, the default, for Amazon's. For buckets only, as are the next four.
    public var endpoint: String?
    /// The region of the bucket; nil, the default, if the environment says it.
    public var region: String?
    /// Whether the bucket is named in the path instead of the host. False by default.
    public var usesPathStyle = false
    /// The proxy on the way to the object store, as `http://HOST:PORT`, or `none`; nil, the default, if the environment says it. A proxy
    /// that wants a user and a password has to be named in the environment (`HTTPS_PROXY`).
    public var proxy: String?
    /// How the object store keeps what is uploaded: storage class, encryption at rest, object lock. By default as the bucket says.
    public var uploads = UploadOptions()
    /// A shell command that connects to an SFTP server; nil, the default, for ssh. For `sftp://` only.
    public var sftpCommand: String?
    /// The source of the repository's secret; nil, the default, without one.
    public var secret: KeyReference?
    /// Whether everything that is stored has to be encrypted: the first run creates a sealed repository, and one that is not sealed is
    /// refused. Needs a secret. False by default.
    public var isSealed = false
    /// How long the store may be silent, return errors or be locked: the limit `store` of the job.
    package var timeLimit = TimeLimits().store

    /// Creates a reference. Nothing is opened.
    ///
    /// - Parameters:
    ///   - location: an absolute path of a directory, `s3://BUCKET/PREFIX`, or `sftp://[USER@]HOST[:PORT]/PATH`.
    ///   - secret: the source of the repository's secret; nil without one.
    public init(_ location: String, secret: KeyReference? = nil) {
        exactLocation = ExactText(location)
        self.secret = secret
    }

    func check() throws(InvalidSetting) {
        let isURL = ["s3://", "sftp://"].contains { location.lowercased().hasPrefix($0) }
        guard location.starts(withText: "/") || isURL else {
            throw InvalidSetting(
                "repository",
                "invalid repository '\(location.withoutPassword)' (expected a directory, s3://BUCKET/PREFIX or sftp://HOST/PATH)"
            )
        }
        if isURL {
            do throws(StoreLocation.Problem) {
                try StoreLocation.requireAddress(location, endpoint: endpoint, usesPathStyle: usesPathStyle)
            } catch {
                throw InvalidSetting("repository", "'\(location.withoutPassword)': \(error.message)", error.remedy)
            }
        }
        guard proxy?.contains("@") != true else {
            throw InvalidSetting(
                "s3", "the proxy contains a user or a password",
                "Set HTTPS_PROXY or HTTP_PROXY to it, and remove 'proxy'.")
        }
        do throws(VaultError) { try uploads.check() } catch {
            throw InvalidSetting("s3", error.message, error.remedy)
        }
        if isSealed, secret == nil {
            throw InvalidSetting(
                "repository-sealed", "a sealed repository needs a secret", "Set repository-secret-file, for example.")
        }
    }
}

extension StoreLocation {
    /// Rejects the address of a store that no store can be made of, whatever is there: without a bucket, or without a path.
    ///
    /// - Parameters:
    ///   - endpoint: the URL of the object store; nil for Amazon's, whose buckets have narrower names.
    ///   - usesPathStyle: whether somebody has asked for the bucket in the path.
    package static func requireAddress(
        _ text: String, endpoint: String? = nil, usesPathStyle: Bool = false
    ) throws(Problem) {
        do {
            switch try StoreLocation(text) {
            case .directory: break
            case .s3: try BucketAddress(url: text).requireName(at: endpoint, usesPathStyle: usesPathStyle)
            case .sftp: _ = try SFTPSettings(url: text)
            }
        } catch let problem as Problem {
            throw problem
        } catch {
            let known = error as? VaultError
            throw Problem(message: known?.message ?? "\(error)", remedy: known?.remedy ?? "")
        }
    }
}

/// Where a key or secret is read from when it is needed: a schedule never contains the key itself.
public struct KeyReference: Sendable, Hashable {
    /// The kinds of sources.
    public enum Source: Sendable, Hashable {
        /// A file.
        case file(String)
        /// A variable of the environment.
        case environment(String)
        /// A shell command that prints it.
        case command(String)
        /// A systemd credential.
        case credential(String)
    }

    /// How a key is written.
    public enum Format: String, Sendable, CaseIterable {
        /// The text is a passphrase.
        case passphrase
        /// Hexadecimal digits of a raw key.
        case hex
        /// The bytes of a raw key.
        case raw
    }

    /// What opens a keyring.
    public enum Unlock: String, Sendable, CaseIterable {
        /// A passphrase.
        case passphrase
        /// A recovery code.
        case recovery
        /// The identity of a recipient.
        case identity
        /// A program.
        case command
        /// A secret of 32 bytes.
        case secret
    }

    /// The source of the key, or of what opens the keyring.
    public var source: Source
    /// How the key is written; a passphrase by default.
    public var format = Format.passphrase
    /// The absolute path of the keyring that has the key; nil, the default, when the source has the key itself.
    public var keyring: String?
    /// What opens the keyring; a passphrase by default.
    public var unlock = Unlock.passphrase

    /// Creates a reference. Nothing is read.
    ///
    /// - Parameters:
    ///   - source: where the key is.
    ///   - format: how it is written there.
    public init(_ source: Source, format: Format = .passphrase) {
        self.source = source
        self.format = format
    }
}
