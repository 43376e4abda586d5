// One import for backups: what this module adds, followers and standbys, and the modules below it.
@_exported public import LiteVaultCapture
@_exported public import LiteVaultRepository
@_exported public import LiteVaultSFTP
