internal import CEngineSupport

#if canImport(Glibc)
    internal import Glibc
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// Bytes of a secret: kept in one place, out of swap and core dumps where the system allows it, wiped when released.
package final class SecretBytes: @unchecked Sendable {
    // Pages of its own: locks and core dump advice act on whole pages, and releasing one secret must not release the
    // lock that another secret relies on.
    private let base: UnsafeMutableRawPointer
    private let mapped: Int
    package let count: Int

    /// Room for `count` bytes, written by `fill`.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) throws -> Void) throws {
        let page = Int(sysconf(Int32(_SC_PAGESIZE)))
        let length = max(1, (count + page - 1) / page) * page
        guard let memory = mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
            memory != MAP_FAILED
        else {
            throw VaultError(.internalFailure, "No memory for a key")
        }
        base = memory
        mapped = length
        self.count = count
        // Best effort: the limit on locked memory may be zero, and a key in swap is better than no service.
        _ = mlock(base, mapped)
        #if os(Linux)
            _ = madvise(base, mapped, MADV_DONTDUMP)
        #endif
        try fill(UnsafeMutableRawBufferPointer(start: base, count: count))
    }

    package convenience init(_ bytes: some Collection<UInt8>) throws {
        try self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
    }

    deinit {
        lv_wipe(base, mapped)
        _ = munlock(base, mapped)
        _ = munmap(base, mapped)
    }

    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(UnsafeRawBufferPointer(start: base, count: count))
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
