internal import Foundation
internal import LiteVault
internal import LiteVaultSupport

/// Memory for a key on its way from its source to the library: pages that are locked and wiped. It begins with one, as
/// most keys need no more and the memory that may be locked is scarce.
final class SecretBuffer {
    /// Far above any key, far below what would matter to the process.
    static let limit = 1 << 16

    private var memory: SecretMemory?
    private(set) var count = 0

    private var capacity: Int { memory?.bytes.count ?? 0 }

    /// The room behind what is there. What was in smaller memory is wiped there.
    private func room() throws(SecretReadError) -> UnsafeMutableRawBufferPointer {
        if count == capacity {
            guard let larger = SecretMemory(count: max(1, 4 * capacity)) else { throw .system(ENOMEM) }
            withBytes { larger.bytes.copyBytes(from: $0) }
            memory = larger
        }
        guard let memory else { throw .system(ENOMEM) }
        return UnsafeMutableRawBufferPointer(rebasing: memory.bytes[count...])
    }

    /// Reads to the end of `descriptor`.
    ///
    /// - Throws: `SecretReadError`; what was read is wiped with the buffer.
    func fill(from descriptor: Int32) throws(SecretReadError) {
        while count <= Self.limit {
            let room = try room()
            let read = Foundation.read(descriptor, room.baseAddress, room.count)
            if read < 0 {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            if read == 0 { return }
            count += read
        }
        throw .tooLong
    }

    /// Reads one line, byte by byte so that nothing after it is taken; the newline is not kept.
    ///
    /// - Returns: whether a newline ended it.
    func fillLine(from descriptor: Int32) throws(SecretReadError) -> Bool {
        while count <= Self.limit {
            let room = try room()
            let read = Foundation.read(descriptor, room.baseAddress, 1)
            if read < 0 {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            if read == 0 { return false }
            if room[0] == UInt8(ascii: "\n") { return true }
            count += 1
        }
        throw .tooLong
    }

    /// Takes over the bytes of a C string and wipes it there.
    func fill(takingOver string: UnsafeMutablePointer<CChar>) throws(SecretReadError) {
        let length = strlen(string)
        let source = UnsafeMutableRawBufferPointer(start: string, count: length)
        defer { SecretMemory.wipe(source) }
        guard length <= Self.limit else { throw .tooLong }
        guard let memory = SecretMemory(count: length) else { throw .system(ENOMEM) }
        memory.bytes.copyMemory(from: UnsafeRawBufferPointer(source))
        self.memory = memory
        count = length
    }

    /// Drops one newline at the end.
    func dropTrailingNewline() {
        if last == UInt8(ascii: "\n") { count -= 1 }
    }

    /// Whether the last byte is a carriage return: a key file that an editor for Windows wrote.
    var endsInCarriageReturn: Bool { last == UInt8(ascii: "\r") }

    private var last: UInt8? { withBytes { $0.last } }

    /// The bytes, for the duration of `body`.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        guard let memory else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Whether both hold the same bytes.
    func equals(_ other: SecretBuffer) -> Bool {
        withBytes { mine in other.withBytes { theirs in mine.elementsEqual(theirs) } }
    }
}

/// Why a key could not be read.
enum SecretReadError: Error {
    case system(Int32)
    case tooLong
}
