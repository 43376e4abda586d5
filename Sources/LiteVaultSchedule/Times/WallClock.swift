internal import Foundation

/// What the clocks on the walls of a time zone show, and when.
struct WallClock {
    let zone: TimeZone

    /// Seconds that the wall's clock is ahead of UTC at `time` (seconds since 1970).
    func offset(_ time: Int) -> Int { zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time))) }

    /// The number of the day that the wall's calendar shows.
    func day(_ time: Int) -> Int { CivilDate.floor(time + offset(time), 86_400) }

    /// The offset that holds from a day before the start of `day` to a day after its end; nil when the clocks are changed
    /// in between.
    func constantOffset(day: Int) -> Int? {
        let noon = day * 86_400 + 43_200
        let offsets = Set([-129_600, -64_800, 0, 64_800, 129_600].map { offset(noon + $0) })
        return offsets.count == 1 ? offsets.first : nil
    }

    /// The moments at which the wall shows `local` (seconds since 1970, as if it were UTC): none when the clocks are put
    /// forward over it, two when they are put back over it.
    func moments(_ local: Int) -> [Int] {
        Set([offset(local - 86_400), offset(local), offset(local + 86_400)]).map { local - $0 }
            .filter { $0 + offset($0) == local }.sorted()
    }

    /// The moment that stands for a time that no clock shows: as much after the change as it would have been after the
    /// hour before it.
    func replacement(_ local: Int) -> Int { local - offset(local - 86_400) }
}
