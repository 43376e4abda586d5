internal import CEngineSupport
internal import Foundation

/// What the file system under a database lets a capture do.
package enum SourceVolume {
    /// File systems of other machines, by `f_type` of statfs(2): locks taken here do not hold there, and shared memory is
    /// not shared.
    package static let networkTypes: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFF53_4D42: "CIFS", 0xFE53_4D42: "SMB", 0x564C: "NCP", 0x5346_414F: "AFS",
        0x7375_7245: "Coda", 0x0102_1997: "9P", 0x00C3_6400: "Ceph", 0x0BD0_0BD0: "Lustre", 0x4750_4653: "GPFS",
        0x0116_1970: "GFS2", 0x7461_636F: "OCFS2", 0x1983_0326: "BeeGFS", 0xAAD7_AAEA: "PanFS",
        0x786F_4256: "a shared folder of VirtualBox", 0xBACB_ACBC: "a shared folder of VMware",
        0x6573_5546: "FUSE",
    ]

    /// Throws for a file system whose locks can not be relied on.
    package static func requireLocal(_ path: String, type: UInt32? = nil) throws {
        guard let name = networkTypes[type ?? lv_file_system_type(path)] else { return }
        throw BackupError(
            .unsupported, "is on \(name), where the locks of SQLite do not reach those who write to it elsewhere",
            path: path, remedy: "run the backup on the machine that has the disk")
    }

    /// Whether nobody at all can write to the file: the file system itself is mounted read-only, not only this view of it
    /// (a container's read-only mount of a folder that others write to does not count).
    static func isReadOnlyMedium(_ path: String) -> Bool {
        var information = statvfs()
        guard statvfs(path, &information) == 0, information.f_flag & UInt(ST_RDONLY) != 0 else { return false }
        #if os(Linux)
            guard let mounts = try? String(contentsOfFile: "/proc/self/mountinfo", encoding: .utf8) else {
                return false
            }
            return isReadOnly(path, mounts: mounts)
        #else
            return true
        #endif
    }

    /// Whether the mount that holds `path` has a read-only file system, by the text of `/proc/self/mountinfo`: proc(5).
    package static func isReadOnly(_ path: String, mounts: String) -> Bool {
        var best = (length: -1, readOnly: false)
        for line in mounts.split(separator: "\n") {
            let fields = line.split(separator: " ")
            guard fields.count > 6, let dash = fields.firstIndex(of: "-"), dash + 3 < fields.count else { continue }
            let point = String(fields[4]).replacingOccurrences(of: "\\040", with: " ")
            guard path == point || path.hasPrefix(point.hasSuffix("/") ? point : point + "/") else { continue }
            // Of two mounts on one point the later covers the earlier.
            guard point.utf8.count >= best.length else { continue }
            best = (point.utf8.count, fields[dash + 3].split(separator: ",").contains("ro"))
        }
        return best.readOnly
    }
}
