internal import LiteVaultCipher
internal import LiteVaultCore
internal import LiteVaultQuoting
internal import LiteVaultSystem

// A keyring that opens was made for the slot that opened it: its public key is in the file for all to read. By whom it was made shows
// only in what the holder of the slot's secret endorsed, or what this machine saw before.

extension UnlockedKeyring {
    /// What shows that this is the keyring that it should be.
    ///
    /// - Throws: `VaultError` when the memory of this machine cannot be read.
    public func proof() throws -> KeyringProof {
        if isTrusted { return .trusted }
        // A slot that is being removed has an older key, which is not for new data.
        guard keys.count == document.keys.count else { return .unknown }
        guard let memory = keyring.memory else { return endorsed == nil ? .unknown : .endorsed }
        // A link that somebody puts in the place of the keyring changes only what is behind it.
        let here = try places().compactMap { try memory.entry(for: $0) }
        for known in here where !isSame(known) {
            // The key was changed since, by the same secret elsewhere. An endorsement that is older comes with an older copy.
            guard known.id == document.id, let endorsed, endorsed > known.generation else { return .contradicted }
        }
        if here.contains(where: isSame) { return .remembered }
        return endorsed == nil ? .unknown : .endorsed
    }

    private func isSame(_ known: KeyringMemory.Entry) -> Bool {
        known.id == document.id && known.fingerprint == fingerprint
    }

    /// Trusts the keyring for new data, and for changes of the key, because somebody has compared its fingerprint.
    ///
    /// - Parameter expected: the fingerprint, as its owner reads it.
    /// - Throws: `VaultError` `keyringUntrusted` when it is not that of this keyring.
    public mutating func trust(_ expected: KeyringFingerprint) throws {
        guard expected == fingerprint else {
            throw VaultError(
                .keyringUntrusted, "The keyring has another fingerprint than the one that is trusted: \(fingerprint)",
                path: file.path,
                remedy: "Do not use it until its owner has confirmed the fingerprint. Its key may have been changed.")
        }
        isTrusted = true
    }

    /// Remembers on this machine that the keyring was used, if that is proven, and if there is a memory.
    ///
    /// - Throws: `VaultError` `noSpace`, `io`, `cannotCreate`: nothing else is affected.
    public func remember() throws {
        guard let memory = keyring.memory, try proof().suffices else { return }
        for place in try places() {
            try memory.remember(
                KeyringMemory.Entry(id: document.id, generation: document.generation, fingerprint: fingerprint),
                for: place)
        }
    }

    /// - Throws: `keyringUntrusted` unless the keyring is proven.
    func requireProof() throws {
        let found = try proof()
        guard !found.suffices else { return }
        throw VaultError(
            .keyringUntrusted,
            found == .contradicted
                ? "This is not the keyring that this machine has used here, or its key was changed elsewhere"
                : "Nothing shows that this keyring is the one that it should be",
            path: file.path,
            remedy: "Its fingerprint is \(fingerprint). If its owner confirms that, trust it.")
    }

    /// What the memory calls the keyring: the absolute path as it was given, and that behind links, if it is another.
    private func places() throws -> [String] {
        let resolved = try withErrorContext(path: file.path) { try FileMetadata.resolvedPath(file.path) }
        let path = keyring.path
        let slash = UInt8(ascii: "/")
        let absolute = path.utf8.first == slash ? path : FileManager.default.currentDirectoryPath + "/" + path
        // Not `..`: behind a link it leads elsewhere than it seems.
        let parts = absolute.utf8.split(separator: slash).map { String(decoding: $0, as: UTF8.self) }.filter {
            $0 != "."
        }
        let given = "/" + parts.joined(separator: "/")
        return isSameText(given, resolved) ? [resolved] : [given, resolved]
    }
}
