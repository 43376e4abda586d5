// LiteVaultCipher
