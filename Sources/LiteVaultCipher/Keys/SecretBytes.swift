internal import CEngineSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Whole pages of memory for secrets: out of swap and core dumps where the system allows it, wiped when released.
///
/// Locks and core dump advice act on whole pages, and releasing one secret must not release the lock that another relies
/// on. Where the limit on locked memory is used up (`RLIMIT_MEMLOCK`, often 64 KiB), the pages are not locked: a key in swap
/// is better than no service.
package final class SecretMemory: @unchecked Sendable {
    package let bytes: UnsafeMutableRawBufferPointer

    /// Maps as few pages as hold `count` bytes; ``bytes`` are all that are in them. Nil when there is no memory.
    package init?(count: Int) {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let length = max(1, (count + page - 1) / page) * page
        guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else { return nil }
        bytes = UnsafeMutableRawBufferPointer(start: memory, count: length)
        _ = mlock(memory, length)
        #if os(Linux)
            _ = madvise(memory, length, MADV_DONTDUMP)
        #endif
    }

    deinit {
        guard let base = bytes.baseAddress else { return }
        lv_wipe(base, bytes.count)
        _ = munlock(base, bytes.count)
        _ = munmap(base, bytes.count)
    }

    /// Overwrites memory that was not allocated here, in a way that no optimiser removes.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        if let base = bytes.baseAddress { lv_wipe(base, bytes.count) }
    }
}

extension [UInt8] {
    /// Overwrites the bytes. The array must be the only owner of its storage, or a copy is wiped.
    package mutating func wipe() { withUnsafeMutableBytes { SecretMemory.wipe($0) } }
}

/// Bytes of a secret, in memory of their own.
package final class SecretBytes: Sendable {
    private let memory: SecretMemory
    package let count: Int

    /// Room for `count` bytes, written by `fill`.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        guard let memory = SecretMemory(count: count) else {
            throw VaultError(.internalFailure, "No memory for a key")
        }
        self.memory = memory
        self.count = count
        try fill(UnsafeMutableRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Several pieces, one behind the other.
    convenience init(joining pieces: [UInt8]...) throws {
        try self.init(count: pieces.reduce(0) { $0 + $1.count }) { target in
            var offset = 0
            for piece in pieces {
                UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyBytes(from: piece)
                offset += piece.count
            }
        }
    }

    package convenience init(_ bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(rebasing: memory.bytes[..<count]))
    }

    /// Compares in a time that depends on the lengths only.
    package func equals(_ other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withBytes { mine in
            other.withBytes { theirs in
                var difference: UInt8 = 0
                for index in 0..<count { difference |= mine[index] ^ theirs[index] }
                return difference == 0
            }
        }
    }
}

extension SecretBytes: CustomReflectable, CustomStringConvertible {
    package var description: String { "<redacted>" }
    package var customMirror: Mirror { Mirror(self, children: [:]) }
}
