package import LiteVaultCore
internal import LiteVaultSystem

/// How an object store keeps what is uploaded: its storage class, its encryption at rest and its object lock.
///
/// What an object store encrypts at rest, it decrypts for everyone who may read the object: a sealed repository is still needed
/// where the store must not see the content.
public struct UploadOptions: Sendable, Hashable {
    /// Encryption at rest by the server.
    public enum Encryption: Sendable, Hashable {
        /// With keys that the store manages (`AES256`).
        case managedKey
        /// With a key of the key management service (`aws:kms`); nil for the account's own key for the store.
        case serviceKey(String?)

        /// The value of the header `x-amz-server-side-encryption`.
        package var algorithm: String {
            switch self {
            case .managedKey: "AES256"
            case .serviceKey: "aws:kms"
            }
        }
    }

    /// A retention during which no version of an object can be removed.
    public struct Lock: Sendable, Hashable {
        /// Who can shorten the retention.
        public enum Mode: String, Sendable, Hashable, CaseIterable {
            /// Credentials with a permission of their own (`s3:BypassGovernanceRetention`).
            case governance = "GOVERNANCE"
            /// Nobody, the owner of the account included.
            case compliance = "COMPLIANCE"
        }

        /// Who can shorten the retention.
        public var mode: Mode
        /// How long an object is retained from the time of its upload, by the server's clock: 1 to 36,500 days.
        public var retention: Duration

        /// A retention from each object's upload on.
        ///
        /// - Parameters:
        ///   - mode: whether privileged users can shorten it.
        ///   - retention: 1 to 36,500 days.
        public init(_ mode: Mode, for retention: Duration) {
            self.mode = mode
            self.retention = retention
        }
    }

    /// The storage class of packs (`x-amz-storage-class`), such as `STANDARD_IA`; nil, the default, for the store's usual one.
    ///
    /// All other objects are small, are read often or are replaced, and stay in the usual class. Classes from which an object
    /// has to be retrieved first (`GLACIER`, `DEEP_ARCHIVE`) are rejected.
    public var storageClass: String?
    /// The encryption of all objects; nil, the default, leaves it to the bucket.
    public var encryption: Encryption?
    /// The lock of packs, manifests and segments (`x-amz-object-lock-mode`, `x-amz-object-lock-retain-until-date`); nil, the
    /// default, leaves it to the bucket. Objects that are replaced during work are never locked.
    public var lock: Lock?

    /// Options that leave everything to the store.
    public init() {}

    private static let day: Int64 = 86_400
    /// The limit of Amazon's store: 100 years.
    private static let mostDays: Int64 = 36_500
    /// Classes whose objects can be read only hours after a request to retrieve them.
    private static let archives: Set<String> = ["GLACIER", "DEEP_ARCHIVE"]

    /// Rejects options that no repository can be kept with.
    ///
    /// - Throws: `VaultError` `config`.
    package func check() throws(VaultError) {
        if let storageClass {
            let isName = storageClass.utf8.allSatisfy(ObjectName.isAllowed)
            guard isName, (1...128).contains(storageClass.utf8.count) else {
                throw Self.invalid(
                    "invalid storage class '\(storageClass)'", "Write it as the store does, such as STANDARD_IA.")
            }
            guard !Self.archives.contains(storageClass.uppercased()) else {
                throw Self.invalid(
                    "objects of the storage class \(storageClass) cannot be read without being retrieved first",
                    "Snapshots, checks and restores read packs at any time. Use GLACIER_IR or STANDARD_IA.")
            }
        }
        if case .serviceKey(let key?) = encryption {
            guard (1...2048).contains(key.utf8.count), key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                throw Self.invalid("invalid KMS key", "Name it by its ID, its ARN or its alias.")
            }
        }
        if let lock {
            let most = Duration.seconds(Self.mostDays * Self.day)
            guard lock.retention >= .seconds(Self.day), lock.retention <= most else {
                throw Self.outOfRange()
            }
        }
    }

    private static func outOfRange() -> VaultError {
        invalid(
            "the retention of the object lock is out of range", "An object is locked for 1 to \(mostDays) days.")
    }

    private static func invalid(_ message: String, _ remedy: String) -> VaultError {
        VaultError(.config, message, remedy: remedy)
    }
}

extension UploadOptions {
    /// Changes the options by settings as arguments and configurations write them. Those that are nil stay.
    ///
    /// - Parameters:
    ///   - storageClass: the name of a storage class.
    ///   - encryption: `AES256`, `aws:kms`, or `none` to leave it to the bucket.
    ///   - key: a key of the key management service.
    ///   - lockMode: `governance`, `compliance`, or `none` to leave it to the bucket.
    ///   - lockDays: the retention in days.
    /// - Throws: `VaultError` `config` for invalid settings, and for those that are incomplete.
    package mutating func apply(
        storageClass: String?, encryption: String?, key: String?, lockMode: String?, lockDays: Int?
    ) throws(VaultError) {
        if let storageClass { self.storageClass = storageClass }
        switch encryption?.lowercased() {
        case nil: break
        case "none": self.encryption = nil
        case "aes256": self.encryption = .managedKey
        case "aws:kms":
            if case .serviceKey = self.encryption {} else { self.encryption = .serviceKey(nil) }
        default:
            throw Self.invalid(
                "invalid encryption '\(encryption ?? "")'", "Write AES256, aws:kms or none.")
        }
        if let key {
            guard encryption?.lowercased() ?? "aws:kms" == "aws:kms", self.encryption != .managedKey else {
                throw Self.invalid(
                    "a KMS key is set without the encryption aws:kms",
                    "Set the encryption to aws:kms, or remove the key."
                )
            }
            self.encryption = .serviceKey(key)
        }
        try apply(lockMode: lockMode, lockDays: lockDays)
        try check()
    }

    private mutating func apply(lockMode: String?, lockDays: Int?) throws(VaultError) {
        guard lockMode != nil || lockDays != nil else { return }
        // Before they become seconds, of which there may be more than a number can hold.
        if let lockDays, !(1...Self.mostDays).contains(Int64(lockDays)) { throw Self.outOfRange() }
        let isOff = lockMode?.lowercased() == "none"
        var mode = isOff ? nil : lock?.mode
        if let lockMode, !isOff { mode = try Self.mode(lockMode) }
        let retention = isOff ? nil : lockDays.map { Duration.seconds(Int64($0) * Self.day) } ?? lock?.retention
        if let mode, let retention {
            lock = Lock(mode, for: retention)
        } else if isOff, lockDays == nil {
            lock = nil
        } else {
            throw Self.invalid(
                "an object lock needs a mode and a number of days", "Set both, or neither.")
        }
    }

    private static func mode(_ text: String) throws(VaultError) -> Lock.Mode {
        guard let mode = Lock.Mode(rawValue: text.uppercased()) else {
            throw invalid("invalid mode '\(text)' of the object lock", "Write governance, compliance or none.")
        }
        return mode
    }
}
