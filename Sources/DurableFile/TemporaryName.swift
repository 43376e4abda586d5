internal import Foundation

/// The name of a temporary file: `.NAME.litevault-PID-START-BOOT-NAMESPACE-RANDOM.tmp`, numbers in hexadecimal.
///
/// It tells people what the file is, and a later run whether its owner can still be alive.
package struct TemporaryName: Equatable, Sendable {
    /// What SQLite may put beside the file while it writes to it.
    package static let companions = ["-wal", "-journal", "-shm"]
    private static let marker = ".litevault-"
    private static let ending = ".tmp"

    package let name: String
    package let owner: ProcessIdentity

    package init(for destination: String, owner: ProcessIdentity = .current) {
        var generator = SystemRandomNumberGenerator()
        let numbers = [
            UInt64(UInt32(bitPattern: owner.process)), owner.start, UInt64(owner.boot), UInt64(owner.namespace),
            generator.next() & 0xFFFF_FFFF,
        ]
        let tail = Self.marker + numbers.map { String($0, radix: 16) }.joined(separator: "-") + Self.ending
        // File systems take 255 bytes; the longest companion must fit as well.
        let room = 255 - tail.utf8.count - 1 - "-journal".utf8.count
        var head = destination
        while head.utf8.count > room { head.removeLast() }
        name = "." + head + tail
        self.owner = owner
    }

    /// Nil unless `name` is such a name, complete and nothing else.
    package init?(parsing name: String) {
        guard name.hasPrefix("."), name.hasSuffix(Self.ending),
            let marker = name.range(of: Self.marker, options: [.backwards, .literal])
        else {
            return nil
        }
        let end = name.utf8.index(name.endIndex, offsetBy: -Self.ending.utf8.count)
        guard marker.upperBound <= end else { return nil }
        let fields = name[marker.upperBound..<end].split(separator: "-", omittingEmptySubsequences: false)
        let numbers = fields.compactMap { UInt64($0, radix: 16) }
        guard fields.count == 5, numbers.count == 5, let process = UInt32(exactly: numbers[0]),
            let boot = UInt32(exactly: numbers[2]), let namespace = UInt32(exactly: numbers[3])
        else { return nil }
        self.name = name
        owner = ProcessIdentity(
            process: Int32(bitPattern: process), start: numbers[1], boot: boot, namespace: namespace)
    }
}
