import LiteVaultBackup
import Testing

@Suite struct BackupErrorTests {
    @Test func `a description names the path, what happened and what to do`() {
        let error = VaultError(.busy, "is locked by another process", path: "a.db", remedy: "try again")
        #expect("\(error)" == "a.db: is locked by another process; try again")
    }
}
