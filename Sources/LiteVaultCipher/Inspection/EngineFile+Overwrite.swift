extension EngineFile {
    /// Overwrites the start of a file with zeros and syncs it. For a file that has no name any more.
    func overwrite(upTo end: Int64) throws {
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        var offset: Int64 = 0
        while offset < end {
            let count = min(Int64(zeros.count), end - offset)
            try write(zeros, count: Int32(count), at: offset)
            offset += count
        }
        try sync()
    }
}
