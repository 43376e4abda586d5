internal import CSystem

/// Whole pages of memory for secrets: kept out of swap and core dumps where the system allows it, wiped when released.
///
/// Locking and excluding from core dumps work on whole pages, and releasing one secret must not release the lock that
/// another relies on. Where the limit on locked memory (`RLIMIT_MEMLOCK`, often 64 KiB) is used up, the pages are not
/// locked: a key in swap is better than no service.
package final class SecretMemory: @unchecked Sendable {  // owners write it before they share it
    /// All bytes of the pages.
    package let bytes: UnsafeMutableRawBufferPointer

    /// Maps the fewest pages for `count` bytes; nil when there is no memory.
    package init?(count: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let length = max(1, (count + page - 1) / page) * page
        guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: length)
        _ = mlock(memory, length)
        Platform.excludeFromCoreDumps(memory, length)
    }

    deinit {
        guard let base = bytes.baseAddress else { return }
        cps_wipe(base, bytes.count)
        _ = munlock(base, bytes.count)
        _ = munmap(base, bytes.count)
    }

    /// Overwrites memory that was not allocated here, in a way that no optimizer removes.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        if let base = bytes.baseAddress { cps_wipe(base, bytes.count) }
    }

    /// Compares in a time that depends only on the lengths.
    fileprivate static func equal(_ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer) -> Bool {
        guard first.count == second.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<first.count { difference |= first[index] ^ second[index] }
        return difference == 0
    }
}

/// Blocks of memory of a megabyte or more.
package enum LargeBlocks {
    /// Has them returned to the system when they are freed (`mallopt`), in the whole process: for programs, not for libraries.
    package static func returnWhenFreed() { cps_return_large_blocks() }
}

extension [UInt8] {
    /// Overwrites the bytes. The array must be the only owner of its storage, or a copy is wiped.
    package mutating func wipe() { withUnsafeMutableBytes { SecretMemory.wipe($0) } }
}

/// Why a secret could not be read or stored.
package enum SecretError: Error, Sendable {
    /// A system call failed with this error number; `ENOMEM` when there is no memory.
    case system(Int32)
    /// The source holds more than ``SecretBuffer/limit`` bytes.
    case tooLong
}

/// The bytes of a secret, in memory of their own. They never change.
package final class SecretBytes: Sendable {
    private let memory: SecretMemory
    package let count: Int

    /// Allocates `count` bytes and has `fill` write them.
    ///
    /// - Throws: ``SecretError`` when there is no memory; what `fill` throws.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard let memory = SecretMemory(count: count) else { throw SecretError.system(ENOMEM) }
        self.memory = memory
        self.count = count
        try fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Copies `bytes`.
    ///
    /// - Throws: ``SecretError`` when there is no memory.
    package convenience init(_ bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    /// Runs `body` with the bytes. They must not leave it.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Whether both hold the same bytes, compared in a time that depends only on the lengths.
    package func equals(_ other: SecretBytes) -> Bool {
        withBytes { mine in other.withBytes { theirs in SecretMemory.equal(mine, theirs) } }
    }
}

extension SecretBytes: CustomReflectable, CustomStringConvertible {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}

/// A secret of unknown length while it is read: it grows, and wipes the memory that became too small.
///
/// It begins with one page, as most keys need no more and the memory that may be locked is scarce.
package final class SecretBuffer {
    /// The longest secret in bytes: far above any key, far below what would matter to the process.
    package static let limit = 1 << 16

    private var memory: SecretMemory?
    package private(set) var count = 0

    private var capacity: Int { memory?.bytes.count ?? 0 }

    /// Creates an empty buffer, without memory yet.
    package init() {}

    /// Reads a file with a key, or with what opens a keyring or a repository; nothing else reads those. Which files it takes is for the
    /// caller to say.
    ///
    /// - Parameters:
    ///   - allowsPipes: whether to wait for the writer of a FIFO; false, the default, leaves it to `accept` to reject one.
    ///   - accept: called with the metadata of the open file before any of it is read; throws to reject it.
    /// - Throws: ``DurableFileError`` if the file cannot be opened, ``SecretError`` if it cannot be read; what `accept` throws.
    package convenience init(
        contentsOf path: String, allowsPipes: Bool = false, _ accept: (FileMetadata) throws -> Void = { _ in }
    ) throws {
        let waiting = allowsPipes ? 0 : O_NONBLOCK
        let descriptor = try systemCall("open", path) { open(path, O_RDONLY | O_CLOEXEC | waiting) }
        defer { close(descriptor) }
        try accept(FileMetadata(descriptor: descriptor, path: path))
        self.init()
        try fill(from: descriptor)
    }

    /// Takes a variable out of the environment, so that no child inherits it; nil if it is not set.
    ///
    /// - Throws: ``SecretError``. The variable is set then, and its bytes are wiped.
    package convenience init?(takingVariable name: String) throws(SecretError) {
        guard let value = getenv(name) else { return nil }
        let source = UnsafeMutableRawBufferPointer(start: value, count: strlen(value))
        // unsetenv removes only the pointer: the bytes stay readable in /proc/PID/environ until they are wiped.
        defer { SecretMemory.wipe(source) }
        guard source.count <= SecretBuffer.limit else { throw .tooLong }
        guard let memory = SecretMemory(count: source.count) else { throw .system(ENOMEM) }
        memory.bytes.copyMemory(from: UnsafeRawBufferPointer(source))
        self.init()
        (self.memory, count) = (memory, source.count)
        unsetenv(name)
    }

    /// The free memory behind the bytes, at least one byte.
    private func room() throws(SecretError) -> UnsafeMutableRawBufferPointer {
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
    /// - Throws: ``SecretError``. The bytes read so far are wiped with the buffer.
    package func fill(from descriptor: Int32) throws(SecretError) {
        while count <= Self.limit {
            if try !fillOnce(from: descriptor) { return }
        }
        throw .tooLong
    }

    /// Reads once from `descriptor`, as much as there is and the buffer has room for.
    ///
    /// - Returns: false at the end.
    func fillOnce(from descriptor: Int32) throws(SecretError) -> Bool {
        let length = try readOnce(room(), from: descriptor)
        count += length
        return length > 0
    }

    private func readOnce(_ room: UnsafeMutableRawBufferPointer, from descriptor: Int32) throws(SecretError) -> Int {
        while true {
            let length = read(descriptor, room.baseAddress, room.count)
            if length >= 0 { return length }
            if errno != EINTR { throw .system(errno) }
        }
    }

    /// Reads one line, byte by byte so that nothing after it is consumed. The newline is not kept.
    ///
    /// - Returns: whether a newline ended the line.
    package func fillLine(from descriptor: Int32) throws(SecretError) -> Bool {
        while count <= Self.limit {
            let room = try room()
            let byte = UnsafeMutableRawBufferPointer(rebasing: room.prefix(1))
            if try readOnce(byte, from: descriptor) == 0 { return false }
            if room[0] == UInt8(ascii: "\n") { return true }
            count += 1
        }
        throw .tooLong
    }

    package func dropTrailingNewline() {
        if last == UInt8(ascii: "\n") { count -= 1 }
    }

    /// Whether the last byte is a carriage return, as in a key file that an editor for Windows wrote.
    package var endsInCarriageReturn: Bool { last == UInt8(ascii: "\r") }

    private var last: UInt8? { withBytes { $0.last } }

    /// Runs `body` with the bytes. They must not leave it.
    package func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T {
        guard let memory else { return try body(UnsafeRawBufferPointer(start: nil, count: 0)) }
        return try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Runs `body` with the bytes that the hexadecimal digits in the buffer stand for, and wipes them afterwards.
    ///
    /// - Returns: nil when the buffer holds other characters, or an odd number of digits.
    /// - Throws: ``SecretError`` when there is no memory; what `body` throws.
    package func withHexadecimal<T>(_ body: (UnsafeRawBufferPointer) throws -> T) throws -> T? {
        guard count.isMultiple(of: 2) else { return nil }
        var isDecoded = false
        let decoded = try SecretBytes(count: count / 2) { target in
            isDecoded = withBytes { Hexadecimal.decode($0, into: target) }
        }
        return isDecoded ? try decoded.withBytes(body) : nil
    }

    /// Whether both hold the same bytes, compared in a time that depends only on the lengths.
    package func equals(_ other: SecretBuffer) -> Bool {
        withBytes { mine in other.withBytes { theirs in SecretMemory.equal(mine, theirs) } }
    }
}
