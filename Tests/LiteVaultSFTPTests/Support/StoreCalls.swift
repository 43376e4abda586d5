import LiteVaultBackup

/// What many tests of a store need.
enum StoreCalls {
    /// The code of the error that `body` throws; nil if it throws none.
    static func code(_ body: () async throws -> Void) async -> VaultError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? VaultError)?.code ?? .internalFailure
        }
    }
}
