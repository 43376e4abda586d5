#if canImport(Security)
    public import LiteVaultCore
    internal import LiteVaultSystem
    internal import Security

    /// A secret in Apple's Keychain, as a generic password.
    ///
    /// This file has never been run: it is compiled on Apple's systems only, and the project is built and tested on Linux. It
    /// was reviewed line by line against the documentation of Keychain Services. Test it on the devices you support.
    public struct AppleKeychainStore: KeyStore {
        /// When the item can be read.
        public enum Accessibility: Sendable {
            /// While the device is unlocked.
            case whenUnlocked
            /// After it was unlocked once since it started: for work in the background.
            case afterFirstUnlock

            fileprivate func attribute(movesToOtherDevices: Bool) -> CFString {
                switch (self, movesToOtherDevices) {
                case (.whenUnlocked, true): kSecAttrAccessibleWhenUnlocked
                case (.whenUnlocked, false): kSecAttrAccessibleWhenUnlockedThisDeviceOnly
                case (.afterFirstUnlock, true): kSecAttrAccessibleAfterFirstUnlock
                case (.afterFirstUnlock, false): kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
                }
            }
        }

        /// The attribute `kSecAttrService` of the item.
        public let service: String
        /// The attribute `kSecAttrAccount` of the item.
        public let account: String
        /// When the item can be read.
        public let accessibility: Accessibility
        /// Whether a backup of this device restores the item to another one. If not, a restored phone has the database
        /// without its key: `keyMissing`.
        public let movesToOtherDevices: Bool

        /// A store in the item with these attributes.
        public init(service: String, account: String, accessibility: Accessibility, movesToOtherDevices: Bool) {
            self.service = service
            self.account = account
            self.accessibility = accessibility
            self.movesToOtherDevices = movesToOtherDevices
        }

        /// `the Keychain`.
        public var description: String { "the Keychain ('\(service)', '\(account)')" }

        private var query: [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service, kSecAttrAccount: account,
                kSecUseDataProtectionKeychain: true,
            ]
        }

        /// Looks the item up.
        public func read() throws -> KeyMaterial? {
            var query = query
            query[kSecReturnData] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            switch status {
            case errSecSuccess:
                guard let data = found as? Data else { throw failure(errSecInternalComponent) }
                return try data.withUnsafeBytes { try KeyMaterial(contentsOf: $0) }
            case errSecItemNotFound: return nil
            default: throw failure(status)
            }
        }

        /// Adds the item, if there is none.
        public func store(_ secret: KeyMaterial) throws {
            var item = query
            item[kSecAttrAccessible] = accessibility.attribute(movesToOtherDevices: movesToOtherDevices)
            item[kSecAttrSynchronizable] = false
            item[kSecValueData] = secret.withBytes { Data($0) }
            switch SecItemAdd(item as CFDictionary, nil) {
            case errSecSuccess: return
            case errSecDuplicateItem: throw isOccupied()
            case let status: throw failure(status)
            }
        }

        private func failure(_ status: OSStatus) -> VaultError {
            switch status {
            case errSecInteractionNotAllowed:
                VaultError(.keyStoreLocked, "The device is locked", remedy: "Try again once it is unlocked.")
            case errSecNotAvailable, errSecAuthFailed, errSecUserCanceled:
                VaultError(.keyStoreLocked, "\(self) cannot be read (\(status))", remedy: "Try again.")
            case errSecMissingEntitlement:
                VaultError(
                    .unsupported, "The program may not use the Keychain (\(status))",
                    remedy: "Sign it with an application identifier.")
            default: VaultError(.io, "\(self) answered with error \(status)")
            }
        }
    }
#endif
