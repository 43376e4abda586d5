import LiteVaultBackup
import Testing

@Suite(.limited) struct SourceVolumeTests {
    @Test func `network file systems are rejected, local ones are not`() throws {
        for type in [0x6969, 0x517B, 0xFF53_4D42, 0xFE53_4D42, 0x0102_1997] as [UInt32] {
            let error = #expect(throws: VaultError.self) { try SourceVolume.requireLocal("/a.db", type: type) }
            #expect(error?.code == .unsupported)
        }
        for type in [0xEF53, 0x0102_1994, 0x5846_5342] as [UInt32] {
            try SourceVolume.requireLocal("/a.db", type: type)
        }
        try SourceVolume.requireLocal("/")
    }

    private let mounts = """
        21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro
        30 21 8:2 / /data rw,relatime - ext4 /dev/sda2 rw
        31 30 8:2 /sub /data/view ro,relatime shared:3 master:1 - ext4 /dev/sda2 rw
        32 21 7:0 / /disc\\040one ro,relatime - iso9660 /dev/sr0 ro,nojoliet
        """

    @Test func `a read-only view of a file system that others write to is not a read-only medium`() {
        #expect(!SourceVolume.isReadOnly("/data/view/a.db", mounts: mounts))
        #expect(!SourceVolume.isReadOnly("/a.db", mounts: mounts))
        #expect(SourceVolume.isReadOnly("/disc one/a.db", mounts: mounts))
        #expect(!SourceVolume.isReadOnly("/disc one more/a.db", mounts: mounts))
    }
}
