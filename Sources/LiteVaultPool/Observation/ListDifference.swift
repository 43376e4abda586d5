/// What changed between two lists whose elements have an identity, for list views that animate changes.
///
/// Removing the elements at ``removed`` and ``moved``'s `from` from the old list, and then inserting those of the new list at
/// ``inserted`` and ``moved``'s `to`, in ascending order, gives the identities of the new list. Found in O(n log n), with as few moves
/// as possible.
public struct ListDifference: Sendable, Equatable {
    /// An element that is in both lists, at another place relative to the others.
    public struct Move: Sendable, Equatable {
        /// The offset in the old list.
        public let from: Int
        /// The offset in the new list.
        public let to: Int
    }

    /// The offsets in the old list of the elements that the new one does not have, in ascending order.
    public private(set) var removed: [Int] = []
    /// The offsets in the new list of the elements that the old one does not have, in ascending order.
    public private(set) var inserted: [Int] = []
    /// The elements that moved, in ascending order of their new offsets.
    public private(set) var moved: [Move] = []
    /// The offsets in the new list of the elements that are in both lists with different content, in ascending order.
    public private(set) var updated: [Int] = []

    /// Whether the lists are equal.
    public var isEmpty: Bool { removed.isEmpty && inserted.isEmpty && moved.isEmpty && updated.isEmpty }

    /// Compares two lists. An identity that occurs several times counts as several elements.
    public init<Element: Identifiable & Equatable>(from old: [Element], to new: [Element]) {
        var offsets: [Occurrence<Element.ID>: Int] = [:]
        var counts: [Element.ID: Int] = [:]
        for (offset, element) in old.enumerated() {
            offsets[Occurrence(id: element.id, number: counts[element.id, default: 0])] = offset
            counts[element.id, default: 0] += 1
        }
        counts = [:]
        var isKept = [Bool](repeating: false, count: old.count)
        var kept: [Move] = []
        for (offset, element) in new.enumerated() {
            let occurrence = Occurrence(id: element.id, number: counts[element.id, default: 0])
            counts[element.id, default: 0] += 1
            guard let before = offsets[occurrence] else {
                inserted.append(offset)
                continue
            }
            isKept[before] = true
            kept.append(Move(from: before, to: offset))
            if old[before] != element { updated.append(offset) }
        }
        removed = isKept.indices.filter { !isKept[$0] }
        let stays = Self.longestAscending(kept.map(\.from))
        moved = kept.indices.filter { !stays.contains($0) }.map { kept[$0] }
    }

    private struct Occurrence<ID: Hashable>: Hashable {
        let id: ID
        let number: Int
    }

    private static func longestAscending(_ numbers: [Int]) -> Set<Int> {
        /// The index of the smallest last number of a subsequence of each length.
        var ends: [Int] = []
        var previous = [Int?](repeating: nil, count: numbers.count)
        for (index, number) in numbers.enumerated() {
            var (low, high) = (0, ends.count)
            while low < high {
                let middle = (low + high) / 2
                if numbers[ends[middle]] < number { low = middle + 1 } else { high = middle }
            }
            if low > 0 { previous[index] = ends[low - 1] }
            if low == ends.count { ends.append(index) } else { ends[low] = index }
        }
        var found: Set<Int> = []
        var next = ends.last
        while let index = next {
            found.insert(index)
            next = previous[index]
        }
        return found
    }
}

extension ListDifference {
    /// The lists that a read returns, each with what changed since the one before: see ``DatabaseAccess/Values/differences()``.
    public struct Changes<Element: Identifiable & Equatable & Sendable>: AsyncSequence, Sendable {
        let values: DatabaseAccess.Values<[Element]>

        /// Creates an iterator, which begins to observe with the first call of `next`.
        public func makeAsyncIterator() -> Iterator { Iterator(values: values.makeAsyncIterator()) }

        /// The iterator of the lists.
        public struct Iterator: AsyncIteratorProtocol {
            var values: DatabaseAccess.Values<[Element]>.Iterator
            private var last: [Element] = []

            init(values: DatabaseAccess.Values<[Element]>.Iterator) { self.values = values }

            /// Returns the current list, all of it as inserted, then waits for each further one; nil when the task is cancelled.
            ///
            /// - Throws: as reading, and the errors of the closure.
            public mutating func next() async throws -> (list: [Element], difference: ListDifference)? {
                guard let list = try await values.next() else { return nil }
                defer { last = list }
                return (list, ListDifference(from: last, to: list))
            }
        }
    }
}

extension DatabaseAccess.Values {
    /// The same lists, each with what changed since the one before.
    public func differences<Element: Identifiable & Equatable & Sendable>() -> ListDifference.Changes<Element>
    where Value == [Element] { ListDifference.Changes(values: self) }
}
