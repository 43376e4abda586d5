// The umbrella: one import for the library. No code of its own.
@_exported public import LiteVaultCipher
@_exported public import LiteVaultCore
@_exported public import LiteVaultOperators
@_exported public import LiteVaultPool
@_exported public import LiteVaultQuery
@_exported public import LiteVaultRecord
@_exported public import LiteVaultSchema
