import LiteVaultBackup
import LiteVaultStoreTesting
import LiteVaultTestSupport
import Testing

/// The rules of a store, one at a time: the server shares the machine.
@Suite(.serialized) struct ConformanceTests {
    let scratch = Scratch()

    @Test(.enabled(if: SFTPServer.isThere, "no sshd: ci/setup tests"), arguments: ObjectStoreConformance.rules)
    func `a directory on an SSH server keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        let stores = (SFTPServer.shared?.scratch.directory ?? "/nowhere") + "/conformance/"
        var conformance = ObjectStoreConformance { try SFTPServer.store(stores + $0) }
        conformance.scratch = scratch.directory
        // Directories are not listed in pages.
        conformance.manyObjects = 300
        let result = await conformance.run(rule)
        #expect(!result.isFailure, "\(result)")
    }
}
