import LiteVaultBackup

/// What many tests of stores and repositories need.
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

    /// The error that `body` throws; nil if it throws none.
    static func failure(_ body: () async throws -> Void) async -> VaultError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? VaultError
        }
    }

    /// Bytes that cannot be compressed, the same for the same seed.
    static func noise(_ count: Int, _ seed: UInt8 = 1) -> [UInt8] {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        return (0..<count).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 56)
        }
    }
}
