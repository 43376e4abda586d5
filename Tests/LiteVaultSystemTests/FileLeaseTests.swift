internal import LiteVaultSystem
internal import Foundation
internal import LiteVaultTestSupport
internal import Testing

/// Linux only: elsewhere the one thing to show is that leases say so.
struct FileLeaseTests {
    let scratch = Scratch()

    #if os(Linux)
        private static let opener = """
            print('opening', flush=True)
            f = os.open(sys.argv[1], os.O_RDWR)
            print('opened', os.fstat(f).st_size, flush=True)
            sys.stdin.readline()
            """

        @Test func `a file that only this process has open is leased, and newcomers wait until it is released`() throws
        {
            let path = try scratch.write("content", to: "vault.db")
            let file = open(path, O_RDWR)
            defer { close(file) }
            let lease = try FileLease(path: path)
            #expect(!lease.isBroken)
            let other = try SecondProcess(Self.opener, path)
            #expect(try other.line() == "opening")
            // SIGIO would end this process here.
            while !lease.isBroken { usleep(1000) }
            lease.release()
            #expect(try other.line() == "opened 7")
        }

        @Test func `a file that another process has open is in use, until that process closes it`() throws {
            let path = try scratch.write("content", to: "vault.db")
            let file = open(path, O_RDWR)
            defer { close(file) }
            let other = try SecondProcess(Self.opener, path)
            #expect(try other.line() == "opening")
            #expect(try other.line() == "opened 7")
            let error = #expect(throws: DurableFileError.self) { _ = try FileLease(path: path) }
            #expect(error?.reason == .inUse)
            other.kill()
            _ = try FileLease(path: path)
        }

        @Test func `a file that another process only reads, or only maps, is in use`() throws {
            let path = try scratch.write("content", to: "vault.db")
            let file = open(path, O_RDWR)
            defer { close(file) }
            let reader = try SecondProcess(
                """
                import mmap
                f = os.open(sys.argv[1], os.O_RDONLY); m = mmap.mmap(f, 0, prot=mmap.PROT_READ); os.close(f)
                print('ready', flush=True); sys.stdin.readline()
                """, path)
            #expect(try reader.line() == "ready")
            let error = #expect(throws: DurableFileError.self) { _ = try FileLease(path: path) }
            #expect(error?.reason == .inUse)
        }

        @Test func `a file that this process has open twice is in use`() throws {
            let path = try scratch.write("content", to: "vault.db")
            let (first, second) = (open(path, O_RDWR), open(path, O_RDONLY))
            defer { for file in [first, second] { close(file) } }
            let error = #expect(throws: DurableFileError.self) { _ = try FileLease(path: path) }
            #expect(error?.reason == .inUse)
        }

        @Test func `a file that is not open here cannot be leased, and is not opened for it`() throws {
            let path = try scratch.write("content", to: "vault.db")
            let error = #expect(throws: DurableFileError.self) { _ = try FileLease(path: path) }
            #expect(error?.code == EBADF)
        }

        @Test func `a lease holds through a rename over its file, and the old file is what a late opener gets`() throws
        {
            let path = try scratch.write("content", to: "vault.db")
            let file = open(path, O_RDWR)
            defer { close(file) }
            let lease = try FileLease(path: path)
            let new = try ReplacementFile(destination: path)
            try fill(new.path, "longer content")
            try new.publish(replacing: true, like: FileMetadata(path: path)) { #expect(!lease.isBroken) }
            #expect(!lease.isBroken)
            let other = try SecondProcess(Self.opener, path)
            #expect(try other.line() == "opening")
            #expect(try other.line() == "opened 14")
            #expect(!lease.isBroken)
        }

        @Test
        func `a lease whose descriptor was closed by its owner is broken, and releasing it touches no other file`()
            throws
        {
            let path = try scratch.write("content", to: "vault.db")
            let file = open(path, O_RDWR)
            let lease = try FileLease(path: path)
            close(file)
            let another = open(try scratch.write("content", to: "other.db"), O_RDWR)
            defer { close(another) }
            #expect(lease.isBroken)
            lease.release()
        }

        @Test(arguments: ["/dev/shm", "/tmp", "/var/tmp"])
        func `the file systems of this machine support leases, or report that they do not`(directory: String) throws {
            guard access(directory, W_OK) == 0 else { return }
            let path = directory + "/litevault-lease-\(UUID().uuidString)"
            let file = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
            defer {
                close(file)
                unlink(path)
            }
            do {
                #expect(!(try FileLease(path: path)).isBroken)
            } catch {
                #expect(error.reason == .unsupported)
            }
        }
    #else
        @Test func `a platform without leases throws unsupported`() throws {
            let path = try scratch.write("content", to: "vault.db")
            let error = #expect(throws: DurableFileError.self) { _ = try FileLease(path: path) }
            #expect(error?.reason == .unsupported)
        }
    #endif
}
