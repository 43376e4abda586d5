internal import LiteVaultBackup
internal import LiteVaultSystem

/// One of the ``UploadOptions``, as the headers of a request.
enum UploadOption: Hashable, Sendable {
    case storageClass(String)
    case encryption(UploadOptions.Encryption)
    case lock(UploadOptions.Lock)

    static func options(_ all: UploadOptions, for name: String) -> [UploadOption] {
        var found: [UploadOption] = []
        // Cold classes charge for a minimum size and time of each object, and for each reading.
        if isPack(name), let storageClass = all.storageClass { found.append(.storageClass(storageClass)) }
        if let encryption = all.encryption { found.append(.encryption(encryption)) }
        // Anything else is replaced or removed during work: each version of a lease would be retained.
        if isOnlyAdded(name), let lock = all.lock { found.append(.lock(lock)) }
        return found
    }

    private static func isPack(_ name: String) -> Bool { name.hasPrefix("data/") || name.hasPrefix("tree/") }

    private static func isOnlyAdded(_ name: String) -> Bool {
        isPack(name) || name.hasPrefix("snapshots/") || name.hasPrefix("segments/")
    }

    func headers(at time: Date) -> [(String, String)] {
        switch self {
        case .storageClass(let name): [("x-amz-storage-class", name)]
        case .encryption(let encryption):
            if case .serviceKey(let key?) = encryption {
                [
                    ("x-amz-server-side-encryption", encryption.algorithm),
                    ("x-amz-server-side-encryption-aws-kms-key-id", key),
                ]
            } else {
                [("x-amz-server-side-encryption", encryption.algorithm)]
            }
        case .lock(let lock):
            [
                ("x-amz-object-lock-mode", lock.mode.rawValue),
                (
                    "x-amz-object-lock-retain-until-date",
                    // Whole seconds, rounded up: not a moment less than asked for.
                    Date(
                        timeIntervalSince1970: (time + lock.retention.seconds).timeIntervalSince1970.rounded(.up)
                    ).formatted(.iso8601)
                ),
            ]
        }
    }

    /// The header of a stored object that proves the option, and its value; nil if the option is not worth an error.
    var evidence: (header: String, value: String)? {
        switch self {
        // A server that has one class only keeps the object all the same.
        case .storageClass: nil
        case .encryption(let encryption): ("x-amz-server-side-encryption", encryption.algorithm)
        case .lock(let lock): ("x-amz-object-lock-mode", lock.mode.rawValue)
        }
    }

    var description: String {
        switch self {
        case .storageClass(let name): "the storage class \(name)"
        case .encryption(let encryption): "the encryption \(encryption.algorithm)"
        case .lock(let lock): "the object lock \(lock.mode.rawValue)"
        }
    }

    var remedy: String {
        switch self {
        case .storageClass: "Set a storage class that the server has."
        case .encryption(.managedKey):
            "Check whether the server encrypts objects, or leave the encryption to the bucket."
        case .encryption(.serviceKey):
            "Check the KMS key, and that the credentials have kms:GenerateDataKey and kms:Decrypt for it."
        case .lock:
            "The bucket needs versioning and object lock, and the credentials s3:PutObjectRetention and s3:GetObjectRetention."
        }
    }

    /// Whether the answer of a server to an upload with this option names it.
    func isNamed(by text: String) -> Bool {
        let words: [String] =
            switch self {
            case .storageClass: ["storageclass", "storage class", "storage-class"]
            case .encryption: ["encrypt", "kms"]
            case .lock: ["lock", "retention", "retain"]
            }
        return words.contains { text.firstRange(ofText: $0) != nil }
    }
}

extension S3Store {
    /// The headers of an upload for the options that apply to the object.
    func uploadHeaders(_ name: String) async throws -> [(String, String)] {
        let options = UploadOption.options(settings.uploads, for: name)
        let isTimed = options.contains { if case .lock = $0 { true } else { false } }
        // A lock until a time that is past for the server is refused, and one by a wrong clock could be for years.
        let time = isTimed ? try await serverTime() : Date()
        return options.flatMap { $0.headers(at: time) }
    }

    private func serverTime() async throws -> Date {
        if let time = client.clock.serverTime { return time }
        return try await now()
    }

    /// Looks at the first object that is stored with an option: some servers ignore headers that they do not know, and an
    /// object that only seems to be locked is worse than an error.
    ///
    /// - Throws: `VaultError` `unsupported` if the server does not confirm the option.
    func confirmUpload(_ name: String) async throws {
        let open = UploadOption.options(settings.uploads, for: name).filter { option in
            option.evidence != nil && !confirmed.withLock { $0.contains(option) }
        }
        guard !open.isEmpty else { return }
        let path = "\(location)/\(name)"
        let missing = try await perform(request("HEAD", name)) { answer in
            open.first { option in option.evidence.map { answer.headers[$0.header] != $0.value } ?? false }
        }
        if let missing {
            throw VaultError(
                .unsupported, "the server stored the object, but does not confirm \(missing.description)", path: path,
                remedy: missing.remedy)
        }
        confirmed.withLock { $0.formUnion(open) }
    }

    /// The error for an upload that the server refuses because of an option; nil if it was refused for another reason.
    func optionRefused(_ failure: S3Failure, _ name: String) -> VaultError? {
        let options = UploadOption.options(settings.uploads, for: name)
        let text = "\(failure.code) \(failure.message)".lowercased()
        var named = options.filter { $0.isNamed(by: text) }
        switch failure.status {
        case 400, 501: break
        // Without a permission that only the option needs.
        case 403:
            let actions = ["kms:", "putobjectretention"]
            guard actions.contains(where: { text.firstRange(ofText: $0) != nil }) else { return nil }
        default: return nil
        }
        // Without a name it may be any of them.
        let isUnnamed = failure.status == 501 || ["InvalidRequest", "InvalidArgument"].contains(failure.code)
        if named.isEmpty, isUnnamed { named = options }
        guard !named.isEmpty else { return nil }
        return VaultError(
            failure.status == 501 ? .unsupported : .config,
            "the server refuses \(named.map(\.description).joined(separator: ", or ")): \(failure.summary)",
            path: "\(location)/\(name)", remedy: named.map(\.remedy).joined(separator: " "))
    }
}
