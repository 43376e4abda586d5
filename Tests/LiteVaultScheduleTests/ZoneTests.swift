import Foundation
import Testing

import LiteVaultSchedule

/// Zones of the system's database, against Foundation's.
@Suite struct ZoneTests {
    private static let hasDatabase = FileManager.default.fileExists(atPath: "/usr/share/zoneinfo/Europe/Berlin")

    @Test(
        .enabled(if: hasDatabase),
        arguments: [
            "Europe/Berlin", "Europe/Dublin", "America/New_York", "America/St_Johns", "America/Sao_Paulo", "Asia/Tokyo",
            "Asia/Kolkata", "Australia/Lord_Howe", "Pacific/Auckland", "Pacific/Apia", "Africa/Casablanca", "UTC",
        ])
    func `offsets are those of Foundation, today and in ten years`(name: String) throws {
        let zone = try #require(Zone(named: name))
        let other = try #require(TimeZone(identifier: name))
        // Each 7 hours from 1972 to 2036.
        for time in stride(from: 63_072_000, to: 2_082_758_400, by: 25_200) {
            let expected = other.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
            guard zone.offset(at: time) != expected else { continue }
            // The database is newer than Foundation's, or the reverse: rules change for the future and are corrected for the past.
            let isBetween = (1_000_000_000..<1_600_000_000).contains(time)
            if isBetween { Issue.record("\(name) at \(time): \(zone.offset(at: time)) instead of \(expected)") }
            return
        }
    }

    @Test func `a rule is evaluated as POSIX has it`() throws {
        let berlin = try #require(ZoneRule("CET-1CEST,M3.5.0,M10.5.0/3"))
        #expect(berlin.offset(at: 1_774_745_999) == 3600)
        #expect(berlin.offset(at: 1_774_746_000) == 7200)
        #expect(berlin.offset(at: 1_792_889_999) == 7200)
        #expect(berlin.offset(at: 1_792_890_000) == 3600)
        // In the south, summer spans the new year.
        let sydney = try #require(ZoneRule("AEST-10AEDT,M10.1.0,M4.1.0/3"))
        #expect(sydney.offset(at: 1_767_225_600) == 39_600)
        #expect(sydney.offset(at: 1_782_864_000) == 36_000)
        #expect(try #require(ZoneRule("<+0330>-3:30")).offset(at: 0) == 12_600)
        #expect(try #require(ZoneRule("EST5")).offset(at: 0) == -18_000)
        // Days of the year: 1 March is J60 in each year, day 59 in those without a leap day.
        let days = try #require(ZoneRule("AAA0BBB,J60/0,J61/0"))
        for start in [1_709_251_200, 1_740_787_200] {
            #expect(days.offset(at: start - 1) == 0)
            #expect(days.offset(at: start) == 3600)
        }
    }

    @Test(arguments: [
        "", "CE-1", "CET", "CET-1CEST,M3.5.0", "CET-1CEST,M13.5.0,M10.5.0", "CET-1CEST,M3.6.0,M10.5.0", "CET-999",
        "CET-1CEST,M3.5.0,M10.5.0,", "<CET-1", "CET-1CEST,J0,J5", "CET-1 ", "CET-1:60",
    ])
    func `what is not a rule is rejected`(text: String) { #expect(ZoneRule(text) == nil) }

    @Test(.enabled(if: hasDatabase)) func `a damaged file is rejected wherever it ends, and never traps`() throws {
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "/usr/share/zoneinfo/Europe/Berlin")))
        #expect(ZoneFile(bytes) != nil)
        for count in 0..<bytes.count { #expect(ZoneFile(Array(bytes[..<count])) == nil) }
        for index in bytes.indices {
            var changed = bytes
            changed[index] = 0xFF
            _ = ZoneFile(changed)?.offset(at: 1_800_000_000)
        }
    }

    @Test(arguments: [
        "", "../../etc/passwd", "/etc/localtime", "Europe//Berlin", "Mars/Olympus", ".", "Europe", "a\0b",
    ])
    func `a name that is not in the database is rejected`(name: String) { #expect(Zone(named: name) == nil) }

    @Test func `the zone of the process is that of TZ`() {
        #expect(Zone.current(variable: "").offset(at: 0) == 0)
        #expect(Zone.current(variable: "Nowhere/AtAll").offset(at: 0) == 0)
        #expect(Zone.current(variable: "EST5EDT,M3.2.0,M11.1.0").offset(at: 1_782_864_000) == -14_400)
        if Self.hasDatabase {
            for name in ["Asia/Tokyo", ":Asia/Tokyo", "/usr/share/zoneinfo/Asia/Tokyo"] {
                #expect(Zone.current(variable: name).offset(at: 0) == 32_400)
            }
            let system = Zone.current(variable: nil, system: "/usr/share/zoneinfo/Asia/Tokyo")
            #expect(system.offset(at: 0) == 32_400)
        }
    }
}
