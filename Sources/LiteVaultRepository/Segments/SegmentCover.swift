internal import LiteVaultFoundation

/// Chooses the objects to read for a series of segments.
enum SegmentCover {
    /// The fewest objects that have all of the segments: of several that begin with the same segment the one that goes
    /// furthest. The first one may begin before the others.
    ///
    /// - Parameters:
    ///   - names: segments, in order.
    ///   - joined: joined segments, in any order.
    static func of(_ names: [SegmentName], _ joined: [SegmentName]) -> [SegmentName] {
        guard !joined.isEmpty else { return names }
        let ordered = joined.sorted { ($0.first, $1.sequence) < ($1.first, $0.sequence) }
        var furthest: [Int: SegmentName] = [:]
        for name in joined where name.sequence > furthest[name.first]?.sequence ?? 0 { furthest[name.first] = name }
        var result: [SegmentName] = []
        var number = 0
        if let start = start(names, joined) {
            result.append(start)
            number = start.sequence + 1
        }
        var (index, place) = (0, 0)
        while true {
            while index < names.count, names[index].sequence < number { index += 1 }
            while place < ordered.count, ordered[place].first < number { place += 1 }
            // Behind what is missing it continues with the next one.
            let fine = index < names.count ? names[index].sequence : Int.max
            let coarse = place < ordered.count ? ordered[place].first : Int.max
            number = min(fine, coarse)
            guard number < .max else { return result }
            if let name = furthest[number] {
                result.append(name)
                number = name.sequence + 1
            } else {
                while index < names.count, names[index].sequence == number {
                    result.append(names[index])
                    index += 1
                }
                number += 1
            }
        }
    }

    /// The joined segment to begin with, if one has the first segment.
    private static func start(_ names: [SegmentName], _ joined: [SegmentName]) -> SegmentName? {
        guard let first = joined.min(by: { ($0.sequence, $1.first) < ($1.sequence, $0.first) }) else { return nil }
        let fine = names.first?.sequence ?? .max
        let number = fine <= first.sequence ? fine : first.first
        return joined.filter { $0.first <= number && number <= $0.sequence }.max { $0.sequence < $1.sequence }
    }
}
