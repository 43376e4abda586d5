// The umbrella: one import for backups. No code of its own.
@_exported public import LiteVaultCapture
@_exported public import LiteVaultFollow
@_exported public import LiteVaultRepository
@_exported public import LiteVaultSFTP
