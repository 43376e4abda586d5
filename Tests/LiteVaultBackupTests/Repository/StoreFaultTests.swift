import Foundation
import LiteVaultBackup
import LiteVaultTestSupport
import Testing

/// A store that fails at any one call leaves every snapshot that is listed restorable, and the next run works.
@Suite(.limited) struct StoreFaultTests {
    let scratch = Scratch()

    /// The first 40 blocks of a database at three times.
    func images() throws -> [TestImage] {
        var image = try TestImage(scratch.path("a.db"), blocks: 40)
        var all = [image]
        for block in [3, 35] {
            try image.change(block: block)
            all.append(image)
        }
        return all
    }

    func open(_ store: FaultyStore) async throws -> Repository {
        try await WritableRepository.openOrCreate(
            store,
            local: LocalDirectories(
                state: scratch.path("state"), cache: scratch.path("cache"), spool: scratch.path("spool"))).repository
    }

    /// A repository with two snapshots and one removed, created again for every fault.
    func start(_ images: [TestImage]) async throws -> FaultyStore {
        for name in ["repository", "state", "cache"] {
            try? FileManager.default.removeItem(atPath: scratch.path(name))
        }
        let store = FaultyStore(DirectoryStore(scratch.path("repository")))
        let repository = try await open(store)
        for image in images.prefix(2) {
            try image.save()
            try await repository.snapshot(image)
        }
        return store
    }

    func judge(_ store: FaultyStore, _ images: [TestImage], _ what: String) async throws {
        store.fail(at: nil)
        let repository = try await open(store)
        for snapshot in try await repository.snapshots() {
            let path = scratch.path(UUID().uuidString)
            try await repository.restore(snapshot, to: path)
            let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: path)))
            #expect(bytes == images[min(snapshot.sequence, images.count) - 1].bytes, "\(what)")
            try FileManager.default.removeItem(atPath: path)
        }
        try await repository.snapshot(images[2])
        #expect(try await repository.check().problems == [], "\(what)")
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    func `a snapshot`(fault: FaultyStore.Fault) async throws {
        let images = try images()
        var number = 1
        var succeeded = false
        while !succeeded {
            let store = try await start(images)
            try images[2].save()
            let repository = try await open(store)
            store.fail(at: number, fault)
            do {
                let result = try await repository.snapshot(images[2])
                #expect(result.snapshot.sequence == 3)
                succeeded = store.count < number
            } catch let error as VaultError {
                #expect(error.code == .io)
            }
            try await judge(store, images, "\(fault) at \(number)")
            number += 1
        }
        #expect(number > 8)
    }

    @Test(arguments: FaultyStore.Fault.allCases)
    func `retention and pruning`(fault: FaultyStore.Fault) async throws {
        let images = try images()
        var policy = RetentionPolicy()
        policy.last = 1
        var number = 1
        var succeeded = false
        while !succeeded {
            let store = try await start(images)
            let repository = try await open(store)
            store.fail(at: number, fault)
            do {
                _ = try await repository.writable().forget(policy)
                try await repository.writable().prune(grace: .seconds(0))
                try await repository.writable().prune(grace: .seconds(0))
                succeeded = store.count < number
            } catch let error as VaultError {
                #expect([.io, .busy].contains(error.code))
            }
            try await judge(store, images, "\(fault) at \(number)")
            number += 1
        }
        #expect(number > 15)
    }
}
