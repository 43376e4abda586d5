internal import LiteVaultSystem
internal import Foundation
internal import Testing

struct FileMetadataTests {
    let scratch: Scratch
    init() throws { scratch = try Scratch() }

    @Test func `a file is itself under a hard link, a symbolic link and another spelling`() throws {
        let path = try scratch.write("vault.db")
        #expect(link(path, scratch.file("hard")) == 0)
        #expect(symlink(path, scratch.file("soft")) == 0)
        try scratch.write("copy")
        for other in ["hard", "soft", "./vault.db"] {
            #expect(try FileMetadata.isSameFile(path, scratch.file(other)))
        }
        for other in ["copy", "missing", "vault.db/x"] {
            #expect(try !FileMetadata.isSameFile(path, scratch.file(other)))
        }
        #expect(try FileMetadata(path: path).linkCount == 2)
        #expect(try FileMetadata(path: scratch.file("soft")).kind == .symbolicLink)
    }

    @Test func `the same metadata comes from a path and from a descriptor`() throws {
        let path = try scratch.write("vault.db", "12345")
        let file = open(path, O_RDONLY)
        defer { close(file) }
        #expect(try FileMetadata(path: path) == FileMetadata(descriptor: file, path: path))
        #expect(try FileMetadata(path: path).size == 5)
    }

    @Test func `a missing file is an error with ENOENT, and nil where that is expected`() throws {
        let error = #expect(throws: DurableFileError.self) { _ = try FileMetadata(path: scratch.file("none")) }
        #expect(error?.isMissing == true)
        #expect(error?.description.contains("none") == true)
        #expect(try FileMetadata.ifExists(path: scratch.file("none")) == nil)
    }

    @Test func `leftovers are the journals beside a name, and empty ones can be left out`() throws {
        let path = scratch.file("vault.db")
        #expect(try Leftovers.find(beside: path) == [])
        for ending in ["-wal", "-shm", "-journal"] { try scratch.write("vault.db" + ending, "") }
        // Nothing is replayed from a journal that is empty, or whose header is zeros.
        #expect(try Leftovers.find(beside: path) == [path + "-wal"])
        try scratch.write("vault.db-journal", String(repeating: "\0", count: 512))
        #expect(try Leftovers.find(beside: path) == [path + "-wal"])
        // The header of one that is being written has zeros at its start only.
        try scratch.write("vault.db-journal", String(repeating: "\0", count: 12) + "nonce and sizes, page after page")
        #expect(try Leftovers.find(beside: path) == [path + "-wal", path + "-journal"])
        try scratch.write("vault.db-journal", "")
        #expect(try Leftovers.find(beside: path, ignoringEmpty: true) == [])
        let error = #expect(throws: DurableFileError.self) { try Leftovers.refuse(beside: path) }
        #expect(error?.reason == .leftover)
    }

    @Test func `a volume reports its space, and requiring too much is a full disk`() throws {
        let space = try VolumeSpace(path: scratch.path)
        #expect(space.available > 0 && space.available <= space.total)
        try VolumeSpace.require(1, beside: scratch.file("vault.db"))
        let error = #expect(throws: DurableFileError.self) {
            try VolumeSpace.require(.max, beside: scratch.file("vault.db"))
        }
        #expect(error?.isNoSpace == true)
        // The free space changes while other tests run.
        #expect(error?.description.contains("vault.db: needs \(UInt64.max) bytes, and ") == true)
    }
}
