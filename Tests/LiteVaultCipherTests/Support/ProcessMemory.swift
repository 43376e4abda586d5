#if os(Linux)
    import Foundation
    import Glibc

    /// Looks for bytes in the memory of this process.
    ///
    /// The bytes to search for are on a page of their own, as are the bytes read: both are left out of the search.
    final class ProcessMemory {
        private let needle: UnsafeMutableRawPointer
        private let count: Int
        private let window: UnsafeMutableRawPointer
        private static let page = 4096
        private static let length = 1 << 20

        /// - Parameter fill: Writes the bytes to look for, without keeping a copy.
        init(count: Int, fill: (UnsafeMutableRawBufferPointer) -> Void) {
            func map(_ length: Int) -> UnsafeMutableRawPointer {
                mmap(nil, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            }
            self.count = count
            needle = map(Self.page)
            window = map(Self.length)
            fill(UnsafeMutableRawBufferPointer(start: needle, count: count))
        }

        deinit {
            munmap(needle, Self.page)
            munmap(window, Self.length)
        }

        /// How often the bytes are in writable memory.
        func occurrences() -> Int {
            let memory = open("/proc/self/mem", O_RDONLY)
            defer { close(memory) }
            var found = 0
            for line in Self.maps().split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 2)
                let bounds = words[0].split(separator: "-").compactMap { UInt(String($0), radix: 16) }
                guard words[1].hasPrefix("rw"), bounds.count == 2 else { continue }
                var start = bounds[0]
                while start < bounds[1] {
                    let wanted = min(Self.length, Int(bounds[1] - start))
                    let read = pread(memory, window, wanted, off_t(bitPattern: start))
                    if read > 0 { found += count(in: read, from: start) }
                    guard wanted == Self.length else { break }
                    start += UInt(Self.length - count)
                }
            }
            window.initializeMemory(as: UInt8.self, repeating: 0, count: Self.length)
            return found
        }

        /// Read to its end by hand: files of /proc have no size.
        private static func maps() -> String {
            let file = open("/proc/self/maps", O_RDONLY)
            defer { close(file) }
            var bytes: [UInt8] = []
            var part = [UInt8](repeating: 0, count: 65536)
            while case let length = read(file, &part, part.count), length > 0 { bytes += part[..<length] }
            return String(decoding: bytes, as: UTF8.self)
        }

        private func count(in length: Int, from start: UInt) -> Int {
            var found = 0
            var offset = 0
            let first = Int32(needle.load(as: UInt8.self))
            while offset + count <= length, let hit = memchr(window + offset, first, length - offset - count + 1) {
                let at = UInt(bitPattern: hit) - UInt(bitPattern: window)
                offset = Int(at) + 1
                let address = start + at
                // The needle itself, and what the window holds of earlier reads.
                if !Self.range(needle, Self.page).contains(address), !Self.range(window, Self.length).contains(address),
                    memcmp(hit, needle, count) == 0
                {
                    found += 1
                }
            }
            return found
        }

        private static func range(_ base: UnsafeMutableRawPointer, _ length: Int) -> Range<UInt> {
            UInt(bitPattern: base)..<(UInt(bitPattern: base) + UInt(length))
        }
    }
#endif
