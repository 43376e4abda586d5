internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

struct TemporaryFileRegistryTests {
    let scratch: Scratch
    let registry = TemporaryFileRegistry()
    init() throws { scratch = Scratch() }

    @Test func `a signal's cleanup removes unfinished files, keeps published ones, and rejects new ones`() throws {
        let done = try ReplacementFile(destination: scratch.path("done.db"), registry: registry)
        try done.publish()
        let file = try ReplacementFile(destination: scratch.path("vault.db"), registry: registry)
        try Data("x".utf8).write(to: URL(fileURLWithPath: file.path + "-journal"))
        #expect(registry.current == [file.path])
        registry.removeAll()
        #expect(try scratch.names() == ["done.db"])
        #expect(throws: DurableFileError.self) { try file.publish() }
        #expect(try scratch.names() == ["done.db"])
        let error = #expect(throws: DurableFileError.self) {
            _ = try ReplacementFile(destination: scratch.path("late.db"), registry: registry)
        }
        #expect(error?.reason == .shuttingDown)
    }

    @Test func `a discarded file is no longer registered`() throws {
        try ReplacementFile(destination: scratch.path("vault.db"), registry: registry).discard()
        #expect(registry.current.isEmpty)
    }
}
