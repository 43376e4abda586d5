internal import LiteVaultSystem

/// A file of the time zone database (tzfile(5), RFC 9636): when the offset of a zone from UTC changed, and the rule for later.
struct ZoneFile: Sendable, Equatable {
    /// Moments in seconds since 1970 in ascending order, and the offset in seconds from each one on.
    private var changes: [(time: Int, offset: Int)] = []
    /// The offset before the first change.
    private var first = 0
    /// The rule after the last change.
    private var rule: ZoneRule?

    static func == (left: Self, right: Self) -> Bool {
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
    init?(_ bytes: [UInt8]) {
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
    func offset(at time: Int) -> Int {
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
