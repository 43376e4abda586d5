internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

struct FileMetadataTests {
    let scratch = Scratch()

    @Test func `a file is itself under a hard link, a symbolic link and another spelling`() throws {
        let path = try scratch.write("content", to: "vault.db")
        #expect(link(path, scratch.path("hard")) == 0)
        #expect(symlink(path, scratch.path("soft")) == 0)
        try scratch.write("content", to: "copy")
        for other in ["hard", "soft", "./vault.db"] {
            #expect(try FileMetadata.isSameFile(path, scratch.path(other)))
        }
        for other in ["copy", "missing", "vault.db/x"] {
            #expect(try !FileMetadata.isSameFile(path, scratch.path(other)))
        }
        #expect(try FileMetadata(path: path).linkCount == 2)
        #expect(try FileMetadata(path: scratch.path("soft")).kind == .symbolicLink)
    }

    @Test func `the same metadata comes from a path and from a descriptor`() throws {
        let path = try scratch.write("12345", to: "vault.db")
        let file = open(path, O_RDONLY)
        defer { close(file) }
        #expect(try FileMetadata(path: path) == FileMetadata(descriptor: file, path: path))
        #expect(try FileMetadata(path: path).size == 5)
    }

    @Test func `a missing file is an error with ENOENT, and nil where that is expected`() throws {
        let error = #expect(throws: DurableFileError.self) { _ = try FileMetadata(path: scratch.path("none")) }
        #expect(error?.isMissing == true)
        #expect(error?.description.contains("none") == true)
        #expect(try FileMetadata.ifExists(path: scratch.path("none")) == nil)
    }

    @Test func `leftovers are the journals beside a name, and empty ones can be left out`() throws {
        let path = scratch.path("vault.db")
        #expect(try Leftovers.find(beside: path) == [])
        for ending in ["-wal", "-shm", "-journal"] { try scratch.write("", to: "vault.db" + ending) }
        // Nothing is replayed from a journal that is empty, or whose header is zeros.
        #expect(try Leftovers.find(beside: path) == [path + "-wal"])
        try scratch.write(String(repeating: "\0", count: 512), to: "vault.db-journal")
        #expect(try Leftovers.find(beside: path) == [path + "-wal"])
        // The header of one that is being written has zeros at its start only.
        try scratch.write(String(repeating: "\0", count: 12) + "nonce and sizes, page after page", to: "vault.db-journal")
        #expect(try Leftovers.find(beside: path) == [path + "-wal", path + "-journal"])
        try scratch.write("", to: "vault.db-journal")
        #expect(try Leftovers.find(beside: path, ignoringEmpty: true) == [])
        let error = #expect(throws: DurableFileError.self) { try Leftovers.refuse(beside: path) }
        #expect(error?.reason == .leftover)
    }

    @Test func `a volume reports its space, and requiring too much is a full disk`() throws {
        let space = try VolumeSpace(path: scratch.directory)
        #expect(space.available > 0 && space.available <= space.total)
        try VolumeSpace.require(1, beside: scratch.path("vault.db"))
        let error = #expect(throws: DurableFileError.self) {
            try VolumeSpace.require(.max, beside: scratch.path("vault.db"))
        }
        #expect(error?.isNoSpace == true)
        // The free space changes while other tests run.
        #expect(error?.description.contains("vault.db: needs \(UInt64.max) bytes, and ") == true)
    }
}
