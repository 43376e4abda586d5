import Foundation
import LiteVaultBackup
import LiteVaultObjectStore
import LiteVaultStoreTesting
import LiteVaultTestSupport
import Testing

/// The rules of a store, for buckets. One rule at a time: the servers are programs in Python and share the machine.
@Suite(.serialized) struct ConformanceTests {
    let scratch = Scratch()

    /// Only the large object is uploaded in parts: moto dates all uploads to 2010, so those under way count as abandoned.
    private static let partSize: Int64 = 16 << 20

    private func expect(_ rule: ObjectStoreConformance.Rule, in conformance: ObjectStoreConformance) async {
        var conformance = conformance
        conformance.scratch = scratch.directory
        let result = await conformance.run(rule)
        #expect(!result.isFailure, "\(result)")
    }

    @Test(
        .enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges"), arguments: ObjectStoreConformance.rules)
    func `a bucket in the path keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        await expect(
            rule,
            in: ObjectStoreConformance { place in
                try FaultyS3.store(port: FaultyS3.busy?.port) {
                    $0.prefix = "tests/\(place)"
                    $0.partSize = Self.partSize
                }
            })
    }

    /// Pages are small here: the other bucket lists in those of the server.
    @Test(
        .enabled(if: FaultyS3.isThere, "no Python with moto: ci/setup judges"), arguments: ObjectStoreConformance.rules)
    func `a bucket in the host's name keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        var conformance = ObjectStoreConformance { place in
            try FaultyS3.store(port: FaultyS3.busy?.port, host: "s3.amazonaws.com") {
                $0.prefix = "tests/\(place)"
                $0.pageSize = 3
                $0.partSize = Self.partSize
            }
        }
        conformance.manyObjects = 40
        conformance.largeObject = 17 << 20
        await expect(rule, in: conformance)
    }

    /// OpenStack Swift shares no code with moto: it checks signatures, the hashes of bodies and the clock, knows `If-None-Match` but not
    /// `If-Match`, and keeps parts as objects of their own.
    @Test(
        .enabled(if: OtherS3.isThere, "no Python with OpenStack Swift: ci/setup judges"),
        arguments: ObjectStoreConformance.rules)
    func `Swift keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        var conformance = ObjectStoreConformance { place in
            try OtherS3.store {
                $0.prefix = "tests/\(place)"
                $0.pageSize = 7
            }
        }
        conformance.manyObjects = 40
        conformance.largeObject = 12 << 20
        await expect(rule, in: conformance)
    }
}
