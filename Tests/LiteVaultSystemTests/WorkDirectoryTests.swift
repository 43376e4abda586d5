internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

/// What a program removes in a directory to which others may write.
struct WorkDirectoryTests {
    let scratch = Scratch()

    private var dead: ProcessIdentity {
        let me = ProcessIdentity.current
        return ProcessIdentity(process: me.process, start: me.start &- 1, boot: me.boot, namespace: me.namespace)
    }

    private func sweep() throws { _ = try WorkDirectory(for: "next", in: scratch.directory) }

    /// A directory as a killed process leaves it.
    @discardableResult
    private func abandoned(marked: Bool = true) throws -> String {
        let path = scratch.path(TemporaryName(for: "segments", owner: dead).name)
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        if marked { try Data().write(to: URL(fileURLWithPath: path + "/" + WorkDirectory.marker)) }
        try Data("frames".utf8).write(to: URL(fileURLWithPath: path + "/segment"))
        return path
    }

    /// A directory whose files nobody may lose.
    private func victim(files: Int) throws -> String {
        let path = scratch.path("victim")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for number in 0..<files { try scratch.write("content", to: "victim/\(number)") }
        return path
    }

    @Test func `a work directory is private, and gone with its files when it is released`() throws {
        do {
            let work = try WorkDirectory(for: "segments", in: scratch.directory)
            #expect(try FileMetadata(path: work.path).mode == 0o700)
            try Data("frames".utf8).write(to: URL(fileURLWithPath: work.path + "/segment"))
            try sweep()
            #expect(try scratch.names().count == 1)
        }
        #expect(try scratch.names() == [])
    }

    @Test func `what a killed process has left is removed, what a living one holds stays`() throws {
        try abandoned()
        let held = try abandoned()
        let owner = try SecondProcess(
            """
            f = open(sys.argv[1]); fcntl.flock(f, fcntl.LOCK_EX)
            print('ready', flush=True); sys.stdin.readline()
            """, held + "/" + WorkDirectory.marker)
        #expect(try owner.line() == "ready")
        try sweep()
        #expect(try scratch.names().map(scratch.path) == [held])
        owner.kill()
        try sweep()
        #expect(try scratch.names() == [])
    }

    @Test func `H-SEC-07: a directory that somebody planted under a dead process's name stays with all it leads to`()
        throws
    {
        let victim = try victim(files: 20)
        // Without the marker it is not ours, whatever its owner.
        let unmarked = try abandoned(marked: false)
        // A link in its place, and links in place of its marker, its files and a subdirectory.
        let link = scratch.path(TemporaryName(for: "segments", owner: dead).name)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: victim)
        let linked = try abandoned(marked: false)
        try FileManager.default.createSymbolicLink(
            atPath: linked + "/" + WorkDirectory.marker, withDestinationPath: victim + "/0")
        let marked = try abandoned()
        try FileManager.default.createSymbolicLink(atPath: marked + "/below", withDestinationPath: victim)
        let deep = try abandoned()
        try FileManager.default.createDirectory(atPath: deep + "/below", withIntermediateDirectories: false)
        try Data("kept".utf8).write(to: URL(fileURLWithPath: deep + "/below/file"))
        // Writable for others.
        let open = try abandoned()
        #expect(chmod(open, 0o777) == 0)
        var kept = [unmarked, link, linked, deep, open]
        if geteuid() == 0 {
            let foreign = try abandoned()
            #expect(chown(foreign, 12345, 12345) == 0)
            let given = try abandoned()
            #expect(chown(given + "/" + WorkDirectory.marker, 12345, 12345) == 0)
            kept += [foreign, given]
        }
        try sweep()
        #expect(try FileManager.default.contentsOfDirectory(atPath: victim).count == 20)
        #expect(try Set(scratch.names().map(scratch.path)) == Set(kept + [victim]))
        #expect(FileManager.default.fileExists(atPath: deep + "/below/file"))
    }

    /// The planted directory passes every check but one at the time, and its subdirectory is now a directory, now a link.
    @Test func `H-SEC-07: exchanging a directory for a link while it is swept deletes nothing behind the link`() throws
    {
        let victim = try victim(files: 200)
        let planted = try abandoned()
        try FileManager.default.createDirectory(atPath: planted + "/below", withIntermediateDirectories: false)
        let racer = try SecondProcess(
            """
            place, victim = sys.argv[1:]
            name = os.path.basename(place)
            below, aside = os.path.join(place, 'below'), os.path.join(place, 'aside')
            print('ready', flush=True)
            while True:
                for path in (below, place):
                    try:
                        os.rename(path, path + '-away')
                        os.symlink(victim, path)
                        os.unlink(path)
                        os.rename(path + '-away', path)
                    except OSError:
                        os.makedirs(below, mode=0o700, exist_ok=True)
            """, planted, victim)
        #expect(try racer.line() == "ready")
        for _ in 0..<300 {
            try sweep()
            OwnedTree.remove(planted)
            OwnedTree.remove(planted + "/below")
        }
        racer.kill()
        #expect(try FileManager.default.contentsOfDirectory(atPath: victim).count == 200)
    }

    @Test func `a tree is removed without what its links lead to`() throws {
        let victim = try victim(files: 3)
        try FileManager.default.createDirectory(atPath: scratch.path("a/b/c"), withIntermediateDirectories: true)
        try scratch.write("content", to: "a/b/c/file")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("a/b/link"), withDestinationPath: victim)
        OwnedTree.remove(scratch.path("a"))
        #expect(try scratch.names() == ["victim"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: victim).count == 3)
    }

    @Test func `the private temporary directory is this user's own, also if another one took its name`() throws {
        let usual = scratch.path("litevault-\(geteuid())")
        #expect(try WorkDirectory.temporary(in: scratch.directory) == usual)
        #expect(chmod(usual, 0o755) == 0)
        #expect(try WorkDirectory.temporary(in: scratch.directory) == usual)
        #expect(try FileMetadata(path: usual).mode == 0o700)
        #expect(rmdir(usual) == 0)
        // A link, and a directory that others can write to.
        let theirs = scratch.path("theirs")
        try FileManager.default.createDirectory(atPath: theirs, withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: usual, withDestinationPath: theirs)
        let fresh = try WorkDirectory.temporary(in: scratch.directory)
        #expect(fresh != usual && fresh.hasPrefix(usual + "-"))
        #expect(try FileMetadata(path: fresh).mode == 0o700)
        #expect(try WorkDirectory.temporary(in: scratch.directory) == fresh)
        if geteuid() == 0 {
            #expect(unlink(usual) == 0 && rename(theirs, usual) == 0 && chown(usual, 12345, 12345) == 0)
            #expect(try WorkDirectory.temporary(in: scratch.directory) == fresh)
        }
        // As other processes of this user: they use it, too, instead of leaving one each.
        let elsewhere = Scratch()
        for _ in 0..<3 {
            #expect(symlink(scratch.directory, elsewhere.path("litevault-\(geteuid())")) == 0 || errno == EEXIST)
            #expect(try WorkDirectory.temporary(in: elsewhere.directory).hasPrefix(elsewhere.directory))
            #expect(try WorkDirectory.temporary(in: scratch.directory) == fresh)
        }
        #expect(try scratch.names().count { $0.hasPrefix("litevault-\(geteuid())-") } == 1)
        // But no link of that name, and no directory that others can write to.
        #expect(rename(fresh, scratch.path("kept")) == 0 && symlink(scratch.path("kept"), fresh) == 0)
        #expect(mkdir(usual + "-0", 0o777) == 0 && chmod(usual + "-0", 0o777) == 0)
        #expect(try WorkDirectory.temporary(in: elsewhere.directory).hasPrefix(elsewhere.directory))
        let other = try WorkDirectory.temporary(in: scratch.directory)
        #expect(![fresh, usual, usual + "-0"].contains(other) && other.hasPrefix(usual + "-"))
    }
}
