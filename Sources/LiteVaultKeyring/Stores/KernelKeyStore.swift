internal import CSystem
internal import LiteVaultCore
internal import LiteVaultSystem

/// A secret in a keyring of the Linux kernel (keyrings(7)): in memory only, gone after a restart, never in swap in the clear.
///
/// For a secret that a person unlocks once, and that programs of the same session or user then share.
public struct KernelKeyStore: KeyStore {
    /// The keyring that the secret is kept in.
    public enum Ring: String, Sendable, CaseIterable {
        /// The session's keyring, gone when its last process ends.
        case session
        /// The user's keyring, gone when the last process of the user ends.
        case user
    }

    /// The name of the secret.
    public let name: String
    /// The keyring that it is in.
    public let ring: Ring

    /// A store in a keyring of the kernel, under the description `litevault:NAME`.
    public init(_ name: String, ring: Ring = .session) {
        self.name = name
        self.ring = ring
    }

    /// `the kernel's session keyring`.
    public var description: String { "the kernel's \(ring.rawValue) keyring ('\(name)')" }

    private var number: Int32 { ring == .session ? ckr_session_ring() : ckr_user_ring() }
    private var key: String { "litevault:" + name }

    /// Looks the secret up.
    public func read() throws -> KeyMaterial? {
        if ring == .user { ckr_link_user_ring() }
        let found = ckr_search(number, key)
        guard found >= 0 else { return try missing(Int32(-found)) }
        let length = ckr_read(found, nil, 0)
        guard length >= 0 else { return try missing(Int32(-length)) }
        guard (1...SecretBuffer.limit).contains(length) else {
            throw VaultError(.keyMaterialRejected, "The secret in \(self) has no usable length")
        }
        var got = 0
        let secret = try KeyMaterial(count: length) { got = ckr_read(found, $0.baseAddress, $0.count) }
        guard got == length else {
            throw VaultError(.keyStoreLocked, "The secret in \(self) changed while it was read", remedy: "Try again.")
        }
        return secret
    }

    /// Adds the secret.
    public func store(_ secret: KeyMaterial) throws {
        guard try read() == nil else { throw isOccupied() }
        let added = secret.withBytes { ckr_add(number, key, $0.baseAddress, $0.count) }
        guard added >= 0 else {
            _ = try missing(Int32(-added))
            throw VaultError(.keyStoreLocked, "Nothing can be stored in \(self)")
        }
    }

    /// Removes the secret, if there is one.
    ///
    /// - Throws: `VaultError` as ``read()``.
    public func remove() throws {
        let found = ckr_search(number, key)
        guard found >= 0 else {
            _ = try missing(Int32(-found))
            return
        }
        _ = ckr_unlink(found, number)
    }

    /// Nil when the error says that there is no secret.
    private func missing(_ code: Int32) throws -> KeyMaterial? {
        switch code {
        case ENOENT, ckr_no_key(): return nil
        case ckr_key_expired(), ckr_key_revoked():
            throw VaultError(.keyMissing, "The secret in \(self) has expired", remedy: "Store it again.")
        case ENOSYS, EPERM:
            throw VaultError(
                .unsupported, "The kernel's keyrings cannot be used here: \(SystemError(code: code))",
                remedy: "Many containers forbid them. Use another key store.")
        default: throw VaultError(.keyStoreLocked, "\(self) cannot be read: \(SystemError(code: code))")
        }
    }
}
