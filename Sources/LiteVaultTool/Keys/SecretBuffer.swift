internal import Foundation

/// Memory for a key on its way from its source to the library: allocated once, never copied by growth, wiped at the end.
final class SecretBuffer {
    /// Far above any key, far below what would matter to the process.
    static let limit = 1 << 16

    private let storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init() {
        // One byte more than the limit, so that "too long" is seen without reading further.
        storage = .allocate(byteCount: Self.limit + 1, alignment: 16)
        // Kept out of core dumps and out of the swap file where the system allows; keys work without either.
        #if os(Linux)
            _ = mlock(storage.baseAddress, storage.count)
        #endif
    }

    deinit {
        Self.wipe(storage)
        #if os(Linux)
            _ = munlock(storage.baseAddress, storage.count)
        #endif
        storage.deallocate()
    }

    /// Reads to the end of `descriptor`.
    ///
    /// - Throws: `SecretReadError`; what was read is wiped with the buffer.
    func fill(from descriptor: Int32) throws(SecretReadError) {
        while count < storage.count {
            let read = Foundation.read(descriptor, storage.baseAddress?.advanced(by: count), storage.count - count)
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
        while count < storage.count {
            let read = Foundation.read(descriptor, storage.baseAddress?.advanced(by: count), 1)
            if read < 0 {
                if errno == EINTR { continue }
                throw .system(errno)
            }
            if read == 0 { return false }
            if storage[count] == UInt8(ascii: "\n") { return true }
            count += 1
        }
        throw .tooLong
    }

    /// Takes over the bytes of a C string and wipes it there.
    func fill(takingOver string: UnsafeMutablePointer<CChar>) throws(SecretReadError) {
        let length = strlen(string)
        let source = UnsafeMutableRawBufferPointer(start: string, count: length)
        defer { Self.wipe(source) }
        guard length <= Self.limit else { throw .tooLong }
        storage.copyMemory(from: UnsafeRawBufferPointer(source))
        count = length
    }

    /// Drops one newline at the end.
    func dropTrailingNewline() {
        if count > 0, storage[count - 1] == UInt8(ascii: "\n") { count -= 1 }
    }

    /// Whether the last byte is a carriage return: a key file that an editor for Windows wrote.
    var endsInCarriageReturn: Bool { count > 0 && storage[count - 1] == UInt8(ascii: "\r") }

    /// The bytes, for the duration of `body`.
    func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        try body(UnsafeRawBufferPointer(rebasing: storage[..<count]))
    }

    /// Whether both hold the same bytes.
    func equals(_ other: SecretBuffer) -> Bool {
        withBytes { mine in other.withBytes { theirs in mine.elementsEqual(theirs) } }
    }

    /// Overwrites memory in a way that no optimiser removes.
    static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count > 0 else { return }
        #if canImport(Darwin)
            _ = memset_s(start, bytes.count, 0, bytes.count)
        #else
            explicit_bzero(start, bytes.count)
        #endif
    }
}

/// Why a key could not be read.
enum SecretReadError: Error {
    case system(Int32)
    case tooLong
}
