import Foundation
import LiteVaultBackup
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

/// The files that changed blocks wait in until they are stored.
@Suite(.limited) struct PackSpoolTests {
    let scratch = Scratch()

    @Test func `H-BAK-40 the packs of a snapshot share the descriptor of their directory`() throws {
        let descriptors = "/proc/self/fd"
        guard FileManager.default.fileExists(atPath: descriptors) else { return }
        let directory = scratch.path("spool")
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let spool = PackSpool(directory: directory)
        let files = try (0..<20).map { _ in try spool.create().file }
        #expect(Set(files.map(\.path)).count == 20)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 20)
        let resolved = URL(fileURLWithPath: directory).resolvingSymlinksInPath().path
        let open = try FileManager.default.contentsOfDirectory(atPath: descriptors).filter {
            (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(descriptors)/\($0)")) == resolved
        }
        #expect(open.count == 1)
        for file in files { file.discard() }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == [])
    }
}
