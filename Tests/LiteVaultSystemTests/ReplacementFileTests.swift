internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

struct ReplacementFileTests {
    let scratch = Scratch()

    @Test func `a new temporary lies beside its destination, mode 0600`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let metadata = try FileMetadata(path: file.path)
        #expect(metadata.mode == 0o600 && metadata.kind == .regular && metadata.size == 0)
        let names = try scratch.names()
        #expect(names.count == 1 && names[0].hasPrefix(".vault.db.litevault-") && names[0].hasSuffix(".tmp"))
    }

    @Test func `publishing gives the content its final name and leaves nothing else`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        try fill(file.path, "new")
        try file.publish()
        #expect(try scratch.names() == ["vault.db"])
        #expect(try scratch.text("vault.db") == "new")
        #expect(try FileMetadata(path: scratch.path("vault.db")).mode == 0o600)
        #expect(!file.isPending)
    }

    @Test func `a writer that begins again leaves nothing of what it wrote before`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        try [UInt8]("longer than the next".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.removeContent()
        try [UInt8]("short".utf8).withUnsafeBytes { try file.write($0, at: 0) }
        try file.publish()
        #expect(try scratch.text("vault.db") == "short")
        #expect(throws: DurableFileError.self) { try file.removeContent() }
    }

    @Test func `an existing destination is refused, untouched, and the temporary can still be discarded`() throws {
        try scratch.write("old", to: "vault.db")
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let error = #expect(throws: DurableFileError.self) { try file.publish() }
        #expect(error?.alreadyExists == true)
        #expect(try scratch.text("vault.db") == "old")
        file.discard()
        #expect(try scratch.names() == ["vault.db"])
    }

    @Test func `a destination that appears at the last moment is not replaced`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let error = #expect(throws: DurableFileError.self) {
            try file.publish { _ = try scratch.write("theirs", to: "vault.db") }
        }
        #expect(error?.reason == .exists)
        #expect(try scratch.text("vault.db") == "theirs")
    }

    @Test func `a dangling symbolic link counts as an existing destination`() throws {
        try FileManager.default.createSymbolicLink(
            atPath: scratch.path("vault.db"), withDestinationPath: scratch.path("elsewhere"))
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let error = #expect(throws: DurableFileError.self) { try file.publish() }
        #expect(error?.reason == .exists)
    }

    @Test func `replacing keeps the mode and owner of the original`() throws {
        let path = try scratch.write("old", to: "vault.db")
        #expect(chmod(path, 0o640) == 0)
        // Only root can give a file away; others show that their own owner and group stay.
        if geteuid() == 0 { #expect(chown(path, 12345, 23456) == 0) }
        let original = try FileMetadata(path: path)
        let file = try ReplacementFile(destination: path)
        try fill(file.path, "new")
        try file.publish(replacing: true, like: original)
        let now = try FileMetadata(path: path)
        #expect(try scratch.text("vault.db") == "new")
        #expect(now.mode == 0o640 && now.owner == original.owner && now.group == original.group)
        #expect(!now.isSameFile(as: original))
        #expect(try scratch.names() == ["vault.db"])
    }

    @Test(.enabled(if: hasLists, "the file system of TMPDIR has no access control lists"))
    func `H-SEC-49 replacing keeps the access control list of the original, and gives its mask to nobody`() throws {
        let path = try scratch.write("old", to: "vault.db")
        try give(list, path)
        let original = try FileMetadata(path: path)
        #expect(original.mode == 0o660)
        let file = try ReplacementFile(destination: path)
        try fill(file.path, "new")
        try file.publish(replacing: true, like: original)
        #expect(try AccessControlList(ofFile: path) == list)
        #expect(try FileMetadata(path: path).mode == 0o660)
        #expect(try scratch.text("vault.db") == "new")
    }

    @Test(.enabled(if: hasLists, "the file system of TMPDIR has no access control lists"))
    func `replacing a file without an access control list keeps none that the new one has`() throws {
        let path = try scratch.write("old", to: "vault.db", mode: 0o640)
        let file = try ReplacementFile(destination: path)
        try give(list, file.path)
        try file.publish(replacing: true, like: FileMetadata(path: path))
        #expect(try AccessControlList(ofFile: path) == nil)
        #expect(try FileMetadata(path: path).mode == 0o640)
    }

    @Test func `the group of a list has the bits of its own entry, and those of a damaged one none`() {
        #expect(list.groupBits == 0)
        #expect(AccessControlList(bytes: [2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 4, 0, 5, 0, 255, 255, 255, 255]).groupBits == 0o050)
        for bytes in [[], [2], [2, 0, 0, 0, 4, 0, 7]] as [[UInt8]] { #expect(AccessControlList(bytes: bytes).groupBits == 0) }
    }

    @Test func `a destination that was exchanged in the meantime is not replaced`() throws {
        let path = try scratch.write("old", to: "vault.db")
        let original = try FileMetadata(path: path)
        let file = try ReplacementFile(destination: path)
        try scratch.write("theirs", to: "other")
        #expect(rename(scratch.path("other"), path) == 0)
        let error = #expect(throws: DurableFileError.self) { try file.publish(replacing: true, like: original) }
        #expect(error?.reason == .changed)
        #expect(try scratch.text("vault.db") == "theirs")
    }

    @Test func `a symbolic link or directory is not replaced`() throws {
        let target = try scratch.write("old", to: "target")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: target)
        let file = try ReplacementFile(destination: scratch.path("link"))
        let error = #expect(throws: DurableFileError.self) { try file.publish(replacing: true) }
        #expect(error?.reason == .notRegularFile)
        #expect(try FileMetadata.resolvedPath(scratch.path("link")) == FileMetadata.resolvedPath(target))
    }

    @Test func `an error of the last check stops the publication and changes nothing`() throws {
        struct Refusal: Error {}
        let path = try scratch.write("old", to: "vault.db")
        let file = try ReplacementFile(destination: path)
        #expect(throws: Refusal.self) { try file.publish(replacing: true) { throw Refusal() } }
        #expect(try scratch.text("vault.db") == "old")
        #expect(file.isPending)
        try file.publish(replacing: true)
    }

    @Test(arguments: ["-wal", "-journal"])
    func `a stale journal beside the destination is refused`(ending: String) throws {
        try scratch.write("stale", to: "vault.db" + ending)
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        let error = #expect(throws: DurableFileError.self) { try file.publish() }
        #expect(error?.reason == .leftover && error?.path == scratch.path("vault.db") + ending)
        #expect(try FileMetadata.ifExists(path: scratch.path("vault.db")) == nil)
    }

    @Test(arguments: ["-wal", "-journal"])
    func `a temporary whose own journal has content is not published`(ending: String) throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        try Data("frames".utf8).write(to: URL(fileURLWithPath: file.path + ending))
        let error = #expect(throws: DurableFileError.self) { try file.publish() }
        #expect(error?.reason == .unfinished)
        file.discard()
        #expect(try scratch.names() == [])
    }

    @Test func `discarding removes the temporary and SQLite's files beside it`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        for ending in TemporaryName.companions {
            try Data("x".utf8).write(to: URL(fileURLWithPath: file.path + ending))
        }
        file.discard()
        file.discard()
        #expect(try scratch.names() == [])
    }

    @Test func `an object released unpublished leaves nothing`() throws {
        do { _ = try ReplacementFile(destination: scratch.path("vault.db")) }
        #expect(try scratch.names() == [])
    }

    @Test func `publishing twice is refused`() throws {
        let file = try ReplacementFile(destination: scratch.path("vault.db"))
        try file.publish()
        #expect(throws: DurableFileError.self) { try file.publish(replacing: true) }
    }

    @Test(arguments: ["", "/", "missing/vault.db", ".", ".."])
    func `a destination that is not a file name is rejected`(name: String) throws {
        let path = name.hasPrefix("missing") ? scratch.path(name) : name
        #expect(throws: DurableFileError.self) { _ = try ReplacementFile(destination: path) }
    }

    @Test func `a destination name of 255 bytes leaves room for the temporary's journal`() throws {
        let name = String(repeating: "ä", count: 126) + "abc"
        let file = try ReplacementFile(destination: scratch.path(name))
        try Data("x".utf8).write(to: URL(fileURLWithPath: file.path + "-journal"))
        #expect(unlink(file.path + "-journal") == 0)
        try file.publish()
        #expect(try scratch.names() == [name])
    }

    @Test func `a directory that cannot be written to is reported with its errno`() throws {
        let error = #expect(throws: DurableFileError.self) {
            _ = try ReplacementFile(destination: "/proc/vault.db")
        }
        #expect(error?.code != 0 && error?.path.hasPrefix("/proc/.vault.db.litevault-") == true)
    }

    @Test func `a destination without a slash is a file of the working directory`() throws {
        let file = try ReplacementFile(destination: "durable-\(UUID().uuidString)")
        defer { unlink(file.destination) }
        #expect(!file.path.contains("/"))
        try file.publish()
        #expect(try FileMetadata(path: file.destination).kind == .regular)
    }
}

/// Appends to a file without the library's help, the way SQLite would write to the temporary.
func fill(_ path: String, _ text: String) throws {
    let handle = try #require(FileHandle(forWritingAtPath: path))
    try handle.write(contentsOf: Data(text.utf8))
    try handle.close()
}

/// The owner and user 12345 may read and write; the group and all others may not.
private let list = AccessControlList(bytes: [
    2, 0, 0, 0,
    1, 0, 6, 0, 255, 255, 255, 255,
    2, 0, 6, 0, 57, 48, 0, 0,
    4, 0, 0, 0, 255, 255, 255, 255,
    16, 0, 6, 0, 255, 255, 255, 255,
    32, 0, 0, 0, 255, 255, 255, 255,
])

private func give(_ list: AccessControlList, _ path: String) throws {
    let descriptor = open(path, O_RDWR)
    defer { close(descriptor) }
    try list.give(to: descriptor, path: path)
}

/// Whether the file system of temporary files has access control lists.
private let hasLists: Bool = {
    let scratch = Scratch()
    return (try? give(list, scratch.write("", to: "file"))) != nil
}()
