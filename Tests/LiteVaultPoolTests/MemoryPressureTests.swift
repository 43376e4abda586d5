import Foundation
import LiteVault
import LiteVaultPool
import LiteVaultSystem
import LiteVaultTestSupport
import Testing

#if !canImport(Darwin)
    @Suite struct MemoryPressureTests {
        let scratch: Scratch
        init() throws { scratch = Scratch() }

        private func file(_ name: String, _ share: Double) throws -> String {
            let path = scratch.path(name)
            let text =
                "some avg10=\(share) avg60=0.40 avg300=0.09 total=182334\nfull avg10=99.00 avg60=0.00 avg300=0.00 total=9\n"
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            return path
        }

        @Test func `the highest figure of some tasks counts, and a file that is missing does not`() throws {
            let low = try file("low", 1.5)
            let high = try file("high", 12.25)
            #expect(PressureStall(files: [low, high, scratch.path("none")]).share() == 12.25)
            #expect(PressureStall(files: [low]).share() == 1.5)
            #expect(PressureStall(files: [scratch.path("none")]).share() == nil)
            #expect(PressureStall.share(in: "full avg10=5.00\n") == nil)
            #expect(PressureStall.share(in: "some avg10=much\n") == nil)
            #expect(PressureStall.share(in: "") == nil)
        }

        @Test(
            .enabled(
                if: FileManager.default.isReadableFile(atPath: "/proc/pressure/memory"), "the kernel tells no pressure")
        )
        func `the kernel's figures are parsed`() throws {
            // Some kernels have the file, and refuse to read it: pressure stall information is switched off.
            guard (try? String(contentsOfFile: "/proc/pressure/memory", encoding: .utf8)) != nil else { return }
            let share = try #require(PressureStall(files: ["/proc/pressure/memory"]).share())
            #expect((0...100).contains(share))
        }

        @Test func `readers that nobody uses are closed while tasks wait for memory`() async throws {
            var configuration = DatabaseConfiguration()
            configuration.idleReaderTimeout = nil
            let pool = try scratch.pool(configuration: configuration)
            let path = try file("pressure", 0.5)
            let pressure = MemoryPressure()
            pressure.start(of: PressureStall(files: [path]), every: 0.02) { [weak pool] in pool?.releaseMemory() }
            _ = try await pool.read { try $0.count() }
            try await Task.sleep(for: .milliseconds(200))
            #expect(pool.coordinator.openReaderCount == 1)
            _ = try file("pressure", 40)
            #expect(await eventually { pool.coordinator.openReaderCount == 0 })
            pressure.stop()
            #expect(try await pool.read { try $0.count() } == 3)
        }
    }
#endif
