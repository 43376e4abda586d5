internal import LiteVaultQuoting
package import LiteVaultSystem

/// A time zone of a schedule.
///
/// `TimeZone` knows names such as Europe/Berlin only in programs that link all of Foundation with ICU, which the tool does not.
/// A zone that is named comes from the system's time zone database, and a `TimeZone` answers only for what that lacks.
package struct Zone: Sendable, Equatable {
    private enum Source: Sendable, Equatable {
        case file(ZoneFile)
        case foundation(TimeZone)
    }

    /// What the zone is called, or the path of its file.
    package let name: String
    private let source: Source

    /// The zone of a caller: the one of its name in the system's database, if that has it.
    package init(_ zone: TimeZone) {
        if let named = Zone(named: zone.identifier) {
            self = named
        } else {
            name = zone.identifier
            source = .foundation(zone)
        }
    }

    /// The zone named `name`, such as Europe/Berlin or UTC; nil if neither the system nor Foundation knows it.
    package init?(named name: String) {
        self.init(named: name, directories: Self.directories)
    }

    /// - Parameter directories: where the time zone database may be.
    init?(named name: String, directories: [String]) {
        self.name = name
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        let isPlain =
            name.utf8.count <= 64
            && parts.allSatisfy { part in
                !part.isEmpty && !part.hasPrefix(".")
                    && part.utf8.allSatisfy { Quoting.isLetterOrDigit($0) || "+-_".utf8.contains($0) }
            }
        guard isPlain else { return nil }
        if name == "UTC" || name == "GMT" {
            source = .foundation(.gmt)
        } else if let file = directories.lazy.compactMap({ ZoneFile(path: "\($0)/\(name)") }).first {
            source = .file(file)
        } else if let zone = TimeZone(identifier: name) {
            source = .foundation(zone)
        } else {
            return nil
        }
    }

    private init(_ name: String, _ file: ZoneFile) {
        self.name = name
        source = .file(file)
    }

    /// The zone of the variable TZ, or that of the system; UTC if neither is set.
    package static var current: Zone { current(variable: getenv("TZ").map { String(cString: $0) }) }

    /// - Parameter variable: the value of TZ: a name, a path or a rule, as tzset(3) describes them.
    package static func current(variable: String?, system: String = "/etc/localtime") -> Zone {
        guard let variable else {
            return ZoneFile(path: system).map { Zone(system, $0) } ?? Zone(.current)
        }
        let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if name.hasPrefix("/"), let file = ZoneFile(path: name) { return Zone(name, file) }
        // Like the C library, which takes what it does not know for UTC.
        return Zone(named: name) ?? ZoneRule(name).map { Zone(name, ZoneFile(rule: $0)) } ?? Zone(.gmt)
    }

    /// The seconds by which local time is ahead of UTC at `time` (seconds since 1970).
    package func offset(at time: Int) -> Int {
        switch source {
        case .file(let file): file.offset(at: time)
        case .foundation(let zone): zone.secondsFromGMT(for: Date(timeIntervalSince1970: Double(time)))
        }
    }

    /// The zone as Foundation has it. Where Foundation does not know it, GMT.
    var timeZone: TimeZone {
        if case .foundation(let zone) = source { return zone }
        return TimeZone(identifier: name) ?? .gmt
    }

    /// Where systems have their time zone database.
    private static let directories = [
        "/usr/share/zoneinfo", "/var/db/timezone/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo",
    ]
}

/// A file of the time zone database (tzfile(5), RFC 9636): when the offset of a zone from UTC changed, and the rule for later.
package struct ZoneFile: Sendable, Equatable {
    /// Moments in seconds since 1970 in ascending order, and the offset in seconds from each one on.
    private var changes: [(time: Int, offset: Int)] = []
    /// The offset before the first change.
    private var first = 0
    /// The rule after the last change.
    private var rule: ZoneRule?

    package static func == (left: Self, right: Self) -> Bool {
        left.first == right.first && left.rule == right.rule && left.changes.elementsEqual(right.changes, by: ==)
    }

    /// Creates a zone that has followed one rule at all times.
    init(rule: ZoneRule) { self.rule = rule }

    /// The largest file in bytes. Those of the database have at most 4 KiB.
    fileprivate static let limit = 1 << 20

    /// Reads a file; nil if it cannot be read, or is damaged.
    init?(path: String) {
        guard let bytes = try? InputFile(path: path).read(upTo: Self.limit + 1), bytes.count <= Self.limit else {
            return nil
        }
        self.init(bytes)
    }

    /// Parses the content of a file; nil if it is damaged.
    package init?(_ bytes: [UInt8]) {
        guard let old = Header(bytes, at: 0) else { return nil }
        guard old.version >= 2 else {
            guard parse(bytes, old, width: 4) != nil else { return nil }
            return
        }
        // Version 2 repeats everything with times of 64 bits, and adds a rule.
        guard let header = Header(bytes, at: old.end(width: 4)), let end = parse(bytes, header, width: 8),
            end < bytes.count, bytes[end] == UInt8(ascii: "\n"),
            let last = bytes[(end + 1)...].firstIndex(of: UInt8(ascii: "\n"))
        else { return nil }
        if last > end + 1 {
            guard let rule = ZoneRule(String(decoding: bytes[(end + 1)..<last], as: UTF8.self)) else { return nil }
            self.rule = rule
        }
    }

    /// The seconds by which local time is ahead of UTC at `time` (seconds since 1970).
    package func offset(at time: Int) -> Int {
        guard let last = changes.last else { return rule?.offset(at: time) ?? first }
        if time >= last.time { return rule?.offset(at: time) ?? last.offset }
        var (low, high) = (0, changes.count)
        while low < high {
            let middle = (low + high) / 2
            if changes[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? first : changes[low - 1].offset
    }

    private struct Header {
        let start: Int
        let version: Int
        /// The numbers of: UT and standard indicators, leap seconds, changes, types, characters of names.
        let counts: [Int]

        init?(_ bytes: [UInt8], at start: Int) {
            guard start + 44 <= bytes.count, bytes[start..<start + 4].elementsEqual("TZif".utf8) else { return nil }
            self.start = start
            version = bytes[start + 4] == 0 ? 1 : Int(bytes[start + 4]) - 48
            counts = (0..<6).map { Int(truncatingIfNeeded: ZoneFile.integer(bytes, start + 20 + 4 * $0, 4)) }
            // In a file of this size no sum of these overflows. Zones that count leap seconds have another 1970 than ours.
            guard counts.allSatisfy({ $0 >= 0 && $0 <= ZoneFile.limit }), counts[2] == 0, counts[4] > 0 else {
                return nil
            }
        }

        var times: Int { start + 44 }

        func end(width: Int) -> Int {
            times + counts[3] * (width + 1) + counts[4] * 6 + counts[5] + counts[2] * (width + 4) + counts[0]
                + counts[1]
        }
    }

    /// Returns the position after the data; nil if they are damaged.
    private mutating func parse(_ bytes: [UInt8], _ header: Header, width: Int) -> Int? {
        let (end, count) = (header.end(width: width), header.counts[3])
        guard end <= bytes.count else { return nil }
        let (indices, types) = (header.times + count * width, header.times + count * (width + 1))
        func offset(_ type: Int) -> Int? {
            guard type < header.counts[4] else { return nil }
            let offset = ZoneFile.integer(bytes, types + 6 * type, 4)
            return abs(offset) <= 26 * 3600 ? offset : nil
        }
        guard let first = offset(0) else { return nil }
        self.first = first
        for index in 0..<count {
            let time = ZoneFile.integer(bytes, header.times + index * width, width)
            guard let offset = offset(Int(bytes[indices + index])), time > changes.last?.time ?? .min || index == 0
            else { return nil }
            changes.append((time, offset))
        }
        return end
    }

    /// A signed number, the most significant byte first.
    fileprivate static func integer(_ bytes: [UInt8], _ start: Int, _ width: Int) -> Int {
        let value = bytes[start..<start + width].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        return width == 4 ? Int(Int32(truncatingIfNeeded: value)) : Int(Int64(bitPattern: value))
    }
}

/// A rule for a zone's offset in all years, as the variable TZ of POSIX has it: `CET-1CEST,M3.5.0,M10.5.0/3`.
package struct ZoneRule: Sendable, Equatable {
    /// When clocks change, in each year.
    private enum Day: Sendable, Equatable {
        /// Day 1 to 365; 29 February is never counted.
        case withoutLeapDay(Int)
        /// Day 0 to 365.
        case ofYear(Int)
        /// A weekday (0 is Sunday) of a week from 1 to 5 (the last) of a month.
        case weekday(month: Int, week: Int, weekday: Int)
    }

    private struct Change: Sendable, Equatable {
        let day: Day
        /// Seconds after midnight of that day, by the clock before the change; it may be negative, or beyond a day.
        let time: Int
    }

    /// Seconds by which local time is ahead of UTC.
    private var standard = 0
    private var summer: (offset: Int, start: Change, end: Change)?

    package static func == (left: Self, right: Self) -> Bool {
        left.standard == right.standard && left.summer?.offset == right.summer?.offset
            && left.summer?.start == right.summer?.start && left.summer?.end == right.summer?.end
    }

    package init?(_ text: String) {
        var rest = Array(text.utf8)[...]
        guard text.utf8.count <= 128, Self.name(&rest), let standard = Self.time(&rest) else { return nil }
        // POSIX counts westwards.
        self.standard = -standard
        guard !rest.isEmpty else { return }
        guard Self.name(&rest) else { return nil }
        var offset = self.standard + 3600
        if let next = rest.first, next != Self.comma {
            guard let given = Self.time(&rest) else { return nil }
            offset = -given
        }
        // Without dates, systems assume those of the United States.
        if rest.isEmpty { rest = Array(",M3.2.0,M11.1.0".utf8)[...] }
        guard let start = Self.change(&rest), let end = Self.change(&rest), rest.isEmpty else { return nil }
        summer = (offset, start, end)
    }

    /// The seconds by which local time is ahead of UTC at `time` (seconds since 1970).
    package func offset(at time: Int) -> Int {
        guard let summer else { return standard }
        let year = CivilDate(dayNumber: CivilDate.floor(time + standard, 86_400)).year
        let start = Self.moment(summer.start, year) - standard
        let end = Self.moment(summer.end, year) - summer.offset
        // In the south, summer spans the turn of the year.
        let isSummer = start < end ? start <= time && time < end : !(end <= time && time < start)
        return isSummer ? summer.offset : standard
    }

    /// The local time of a change, in seconds since 1970 as if it were UTC.
    private static func moment(_ change: Change, _ year: Int) -> Int {
        let newYear = CivilDate.dayNumber(year: year, month: 1, day: 1)
        let day: Int
        switch change.day {
        case .ofYear(let number): day = newYear + number
        case .withoutLeapDay(let number):
            day = CivilDate.dayNumber(year: year, month: 3, day: 1) + number - 60
            if number < 60 { return (newYear + number - 1) * 86_400 + change.time }
        case .weekday(let month, let week, let weekday):
            let first = CivilDate.dayNumber(year: year, month: month, day: 1)
            let next =
                month == 12
                ? CivilDate.dayNumber(year: year + 1, month: 1, day: 1)
                : CivilDate.dayNumber(year: year, month: month + 1, day: 1)
            // Weekdays of CivilDate: 7 is Sunday.
            let ahead = (weekday - CivilDate.weekday(dayNumber: first) + 7) % 7
            var found = first + ahead + (week - 1) * 7
            if found >= next { found -= 7 }
            day = found
        }
        return day * 86_400 + change.time
    }
}

/// Parsing. Functions take what they have read off the text.
extension ZoneRule {
    private static let comma = UInt8(ascii: ",")

    /// `CET`, or `<+03>`; it has no meaning.
    private static func name(_ rest: inout ArraySlice<UInt8>) -> Bool {
        if rest.first == UInt8(ascii: "<") {
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return false }
            rest = rest[(end + 1)...]
            return true
        }
        let letters = rest.prefix { (65...90).contains($0 & 0xDF) }
        rest = rest.dropFirst(letters.count)
        return letters.count >= 3
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, _ range: ClosedRange<Int>) -> Int? {
        let digits = rest.prefix { (48...57).contains($0) }
        guard (1...3).contains(digits.count) else { return nil }
        rest = rest.dropFirst(digits.count)
        let value = digits.reduce(0) { $0 * 10 + Int($1) - 48 }
        return range.contains(value) ? value : nil
    }

    private static func take(_ character: Unicode.Scalar, _ rest: inout ArraySlice<UInt8>) -> Bool {
        guard rest.first == UInt8(ascii: character) else { return false }
        rest = rest.dropFirst()
        return true
    }

    /// `[+-]HOURS[:MINUTES[:SECONDS]]` in seconds.
    private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let isNegative = take("-", &rest)
        if !isNegative { _ = take("+", &rest) }
        guard let hours = number(&rest, 0...167) else { return nil }
        var total = hours * 3600
        if take(":", &rest) {
            guard let minutes = number(&rest, 0...59) else { return nil }
            total += minutes * 60
            if take(":", &rest) {
                guard let seconds = number(&rest, 0...59) else { return nil }
                total += seconds
            }
        }
        return isNegative ? -total : total
    }

    /// `,M3.5.0/2`, `,J60` or `,59`.
    private static func change(_ rest: inout ArraySlice<UInt8>) -> Change? {
        guard take(",", &rest) else { return nil }
        let day: Day
        if take("M", &rest) {
            guard let month = number(&rest, 1...12), take(".", &rest), let week = number(&rest, 1...5),
                take(".", &rest), let weekday = number(&rest, 0...6)
            else { return nil }
            day = .weekday(month: month, week: week, weekday: weekday)
        } else if take("J", &rest) {
            guard let number = number(&rest, 1...365) else { return nil }
            day = .withoutLeapDay(number)
        } else {
            guard let number = number(&rest, 0...365) else { return nil }
            day = .ofYear(number)
        }
        guard take("/", &rest) else { return Change(day: day, time: 7200) }
        guard let time = time(&rest) else { return nil }
        return Change(day: day, time: time)
    }
}
