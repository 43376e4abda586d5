import Foundation
import LiteVaultBackup
import LiteVaultStoreTesting
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// Each of these stores has to be found by the rule that it breaks: otherwise the rule would be no check.
@Suite(.limited) struct WrongStoreTests {
    let scratch = Scratch()

    private func result(_ wrong: WrongStore) async throws -> ObjectStoreConformance.Result {
        let rule = try #require(ObjectStoreConformance.rules.first { $0.name.hasPrefix(wrong.rule) }, "\(wrong.rule)")
        let stores = Locked([String: MemoryStore]())
        var conformance = ObjectStoreConformance { wrong.open(MemoryStore.shared($0, stores)) }
        conformance.scratch = scratch.directory
        conformance.largeObject = 66 << 20
        conformance.patience = .seconds(3)
        return await conformance.run(rule)
    }

    @Test(arguments: WrongStore.all) func `a store that breaks a rule is found`(wrong: WrongStore) async throws {
        let result = try await result(wrong)
        #expect(result.isFailure, "\(result)")
        guard case .failed(let observed, let expected) = result.outcome else { return }
        #expect(!observed.isEmpty && !expected.isEmpty)
        #expect("\(result)".contains(observed) && "\(result)".contains(result.rule.reason))
    }

    @Test func `each rule is broken by one of the stores`() {
        let unbroken = ObjectStoreConformance.rules.map(\.name).filter { name in
            !WrongStore.all.contains { name.hasPrefix($0.rule) }
        }
        #expect(unbroken == [])
    }

    @Test func `without conditions their rules are skipped, and others are not`() async throws {
        let results = try await ["a put with the condition absent", "of many who", "what one client did"].asyncMap {
            try await result(WrongStore("without conditions", breaks: $0) { $0.conditional = { _ in false } })
        }
        #expect(results[0].outcome == .notApplicable("the store says that it does not honor conditions"))
        #expect(results[1].outcome == results[0].outcome)
        #expect(results[2].outcome == .passed)
    }
}

extension Sequence {
    fileprivate func asyncMap<T>(_ body: (Element) async throws -> T) async rethrows -> [T] {
        var all: [T] = []
        for element in self { all.append(try await body(element)) }
        return all
    }
}
