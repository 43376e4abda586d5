internal import LiteVaultBackup
internal import LiteVaultSchedule
internal import LiteVaultSystem

extension RepositoryReference {
    /// Parses the repository of a section, with `inherited` for absent settings; nil when neither names a repository.
    init?(_ section: ConfigurationSection, directory: String, inherited: RepositoryReference?) throws {
        let secret = try KeyReference(section, prefix: "repository-secret", directory: directory)
        let sealed = try section.flag("repository-sealed")
        let s3 = try section.section(
            "s3",
            known: [
                "endpoint", "region", "path-style", "proxy", "storage-class", "encryption", "kms-key", "lock-mode",
                "lock-days",
            ])
        let sftp = try section.section("sftp", known: ["command"])
        guard let text = try section.text("repository") else {
            // Only how a job's uploads are kept may differ from job to job in the same repository.
            let isOther = ["endpoint", "region", "path-style", "proxy"].contains { s3?.has($0) ?? false }
            guard secret == nil, sealed == nil, sftp == nil, !isOther, s3 == nil || inherited != nil else {
                let keys = KeyReference.keys("repository-secret") + ["repository-sealed", "sftp", "s3"]
                throw section.error(
                    keys.first(where: section.has), "belongs to a 'repository', and there is none beside it")
            }
            guard let inherited else { return nil }
            self = inherited
            uploads = try Self.uploads(s3, inherited.uploads)
            return
        }
        let kind: StoreLocation
        let endpoint = try s3?.text("endpoint") ?? inherited?.endpoint
        let usesPathStyle = try s3?.flag("path-style") ?? inherited?.usesPathStyle ?? false
        do {
            kind = try StoreLocation(text)
            try StoreLocation.requireAddress(text, endpoint: endpoint, usesPathStyle: usesPathStyle)
        } catch {
            throw section.error("repository", "'\(text.withoutPassword)': \(error.message)", error.remedy)
        }
        self.init(try kind == .directory ? section.absolute(text, "repository", directory) : text)
        (self.endpoint, self.usesPathStyle) = (endpoint, usesPathStyle)
        region = try s3?.text("region") ?? inherited?.region
        proxy = try s3?.text("proxy") ?? inherited?.proxy
        uploads = try Self.uploads(s3, inherited?.uploads ?? UploadOptions())
        sftpCommand = try sftp?.text("command") ?? inherited?.sftpCommand
        // A secret belongs to one repository.
        self.secret = secret ?? (location == inherited?.location ? inherited?.secret : nil)
        isSealed = sealed ?? (location == inherited?.location ? inherited?.isSealed : nil) ?? false
        if sealed == true, self.secret == nil {
            throw section.error(
                "repository-sealed", "a sealed repository needs a secret", "Set repository-secret-file, for example.")
        }
    }

    /// Parses how the object store keeps what is uploaded, with `inherited` for absent settings.
    private static func uploads(_ s3: ConfigurationSection?, _ inherited: UploadOptions) throws -> UploadOptions {
        guard let s3 else { return inherited }
        var uploads = inherited
        let (storageClass, encryption) = (try s3.text("storage-class"), try s3.text("encryption"))
        let (key, lockMode) = (try s3.text("kms-key"), try s3.text("lock-mode"))
        let lockDays = try s3.number("lock-days")
        do throws(VaultError) {
            try uploads.apply(
                storageClass: storageClass, encryption: encryption, key: key, lockMode: lockMode, lockDays: lockDays)
        } catch {
            throw s3.error(nil, error.message, error.remedy)
        }
        return uploads
    }
}

extension KeyReference {
    /// The keys of the configuration that name a source.
    static func keys(_ prefix: String) -> [String] {
        ["file", "env", "command", "credential", "format"].map { "\(prefix)-\($0)" }
    }

    /// The keys of the configuration that name a source, or a keyring and what opens it.
    static let keyringKeys = keys("key") + ["keyring", "unlock"]

    /// Parses `PREFIX-file`, `PREFIX-env` and so on; nil when all are absent. Relative paths start at `directory`.
    ///
    /// - Throws: `VaultError` `config` if there is more than one.
    init?(_ section: ConfigurationSection, prefix: String, directory: String) throws {
        var given: [(String, Source)] = []
        if let path = try section.text("\(prefix)-file") {
            given.append(("file", .file(try section.absolute(path, "\(prefix)-file", directory))))
        }
        if let name = try section.text("\(prefix)-env") { given.append(("env", .environment(name))) }
        if let text = try section.text("\(prefix)-command") { given.append(("command", .command(text))) }
        if let name = try section.text("\(prefix)-credential") { given.append(("credential", .credential(name))) }
        let format = try section.text("\(prefix)-format").map { text in
            guard let format = Format(rawValue: text) else {
                throw section.error(
                    "\(prefix)-format", "invalid format '\(text)' (expected passphrase, hex or raw)")
            }
            return format
        }
        guard given.count <= 1 else {
            throw section.error(
                "\(prefix)-\(given[1].0)", "more than one source for the same key", "Keep one of them.")
        }
        guard let only = given.first else { return nil }
        self.init(only.1, format: format ?? .passphrase)
    }

    /// Parses `keyring` and `unlock` as well; nil when all are absent.
    ///
    /// - Throws: `VaultError` `config` for a keyring without a source of what opens it, and the reverse.
    init?(orKeyringOf section: ConfigurationSection, directory: String) throws {
        let (path, method) = (try section.text("keyring"), try section.text("unlock"))
        guard method == nil || path != nil else {
            throw section.error("unlock", "requires a keyring", "Set keyring, or remove it.")
        }
        guard var reference = try KeyReference(section, prefix: "key", directory: directory) else {
            guard path == nil else {
                throw section.error(
                    "keyring", "nothing opens it", "Set key-file, key-env, key-command or key-credential.")
            }
            return nil
        }
        if let path {
            guard let unlock = Unlock(rawValue: method ?? Unlock.passphrase.rawValue) else {
                throw section.error(
                    "unlock", "invalid method '\(method ?? "")'",
                    "Write \(Unlock.allCases.map(\.rawValue).joined(separator: ", ")).")
            }
            guard try section.text("key-format") == nil else {
                throw section.error("key-format", "is for keys, not for what opens a keyring", "Remove it.")
            }
            if unlock == .command {
                guard case .command = reference.source else {
                    throw section.error("unlock", "nothing is run", "Set key-command.")
                }
            }
            reference.keyring = try section.absolute(path, "keyring", directory)
            reference.unlock = unlock
        }
        self = reference
    }
}
