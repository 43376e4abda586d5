import Foundation
import LiteVaultBackup
import LiteVaultStoreTesting
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// The rules of a store, for the stores of this package that need no server, and for a small one of one's own.
@Suite(.limited) struct ConformanceTests {
    let scratch = Scratch()

    private func expect(_ rule: ObjectStoreConformance.Rule, in conformance: ObjectStoreConformance) async {
        var conformance = conformance
        conformance.scratch = scratch.directory
        let result = await conformance.run(rule)
        #expect(!result.isFailure, "\(result)")
    }

    @Test(arguments: ObjectStoreConformance.rules)
    func `a directory keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        let stores = scratch.path("stores")
        await expect(rule, in: ObjectStoreConformance { DirectoryStore("\(stores)/\($0)") })
    }

    @Test(arguments: ObjectStoreConformance.rules)
    func `a store of limited calls keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        let stores = scratch.path("stores")
        var conformance = ObjectStoreConformance { LimitedStore(DirectoryStore("\(stores)/\($0)"), calls: 2) }
        (conformance.manyObjects, conformance.largeObject) = (100, 4 << 20)
        await expect(rule, in: conformance)
    }

    @Test(arguments: ObjectStoreConformance.rules)
    func `a sealed store keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        let scratch = scratch
        let opened = Locked(Set<String>())
        await expect(
            rule,
            in: ObjectStoreConformance { place in
                let local = LocalDirectories(
                    state: nil, cache: scratch.path("cache"), spool: scratch.path("spool"))
                let (base, secret) = (
                    DirectoryStore(scratch.path("sealed/\(place)")),
                    try RepositorySecret.quick("secret")
                )
                let repository =
                    opened.withLock({ $0.insert(place).inserted })
                    ? try await WritableRepository.create(base, secret: secret, sealed: true, local: local).repository
                    : try await Repository.open(base, secret: secret, local: local)
                return Self.contents(of: repository.store)
            })
    }

    /// Objects with the sizes of their contents, as a repository asks for them.
    private static func contents(of store: any ObjectStore) -> AlteredStore {
        @Sendable func opened(_ object: ObjectAttributes, _ store: any ObjectStore) async throws -> ObjectAttributes {
            ObjectAttributes(
                name: object.name, size: try await store.contentSize(object), modified: object.modified, tag: object.tag
            )
        }
        @Sendable func opened(_ objects: [ObjectAttributes], _ store: any ObjectStore) async throws
            -> [ObjectAttributes]
        {
            var all: [ObjectAttributes] = []
            // Removed in between, or replaced: a repository asks for sizes of packs only, which never change.
            for object in objects { all.append(try await opened(object, store)) }
            return all
        }
        return AlteredStore(store) {
            $0.attributes = { store, name in
                for _ in 0..<100 {
                    guard let found = try await store.attributes(name) else { return nil }
                    do { return try await opened(found, store) } catch let error as VaultError
                        where error.code == .damaged || error.code == .missing
                    { continue }
                }
                throw VaultError(.io, "is replaced again and again", path: name)
            }
            $0.list = { try await opened(try await $0.list($1), $0) }
            $0.part = { try await opened(try await $0.list($1, after: $2, before: $3), $0) }
            $0.putFile = { try await $0.put($1, file: $2, condition: $3) }
            $0.getUpTo = { try await $0.get($1, upTo: $2) }
        }
    }

    @Test(arguments: ObjectStoreConformance.rules)
    func `a store in memory keeps the rules of a store`(rule: ObjectStoreConformance.Rule) async {
        let stores = Locked([String: MemoryStore]())
        await expect(rule, in: ObjectStoreConformance { MemoryStore.shared($0, stores) })
    }

    @Test func `a store in memory of one client keeps all rules, and its objects are removed`() async throws {
        let stores = Locked([String: MemoryStore]())
        var conformance = ObjectStoreConformance { MemoryStore.shared($0, stores) }
        conformance.hasSeveralClients = false
        conformance.largeObject = 100_000
        conformance.manyObjects = 10
        let results = await conformance.run()
        #expect(results.map(\.rule.name) == ObjectStoreConformance.rules.map(\.name))
        #expect(results.filter(\.isFailure).isEmpty)
        let skipped = results.compactMap { if case .notApplicable(let reason) = $0.outcome { reason } else { nil } }
        #expect(skipped == ["the store says that it is remote", "the store says that any directory will do"])
        for store in stores.withLock({ Array($0.values) }) {
            // One is opened elsewhere to compare, and stays empty.
            #expect(try await store.list("").isEmpty)
        }
    }

    @Test func `names of rules are sentences of their own, and each says what relies on it`() {
        let rules = ObjectStoreConformance.rules
        #expect(rules.count == 36)
        #expect(Set(rules.map(\.name)).count == rules.count)
        #expect(rules.allSatisfy { $0.name.contains(" ") && $0.reason.hasSuffix(".") })
    }

    @Test func `a place that cannot be opened is a failure of each rule`() async throws {
        let conformance = ObjectStoreConformance { _ in throw VaultError(.io, "the server is down") }
        let result = await conformance.run(ObjectStoreConformance.rules[0])
        #expect(result.isFailure)
        #expect("\(result)".contains("the server is down"))
    }
}

extension MemoryStore {
    /// The store of a place: the same for the same one.
    static func shared(_ place: String, _ stores: Locked<[String: MemoryStore]>) -> MemoryStore {
        stores.withLock { known in
            let store = known[place] ?? MemoryStore(place)
            known[place] = store
            return store
        }
    }
}
