import Foundation
import LiteVault
import LiteVaultEngine

/// Lets writes to the main file of one connection fail as on a full disk, after some that succeed.
///
/// The file's methods are exchanged for ones that differ in `xWrite` alone. One connection at a time.
enum FullDisk {
    nonisolated(unsafe) private static var original: UnsafePointer<sqlite3_io_methods>?
    nonisolated(unsafe) private static var remaining = 0

    static func begin(on connection: Connection, afterWrites count: Int) throws {
        try connection.withHandle { db in
            var file: UnsafeMutablePointer<sqlite3_file>?
            guard sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK, let file,
                let methods = file.pointee.pMethods
            else { return }
            original = methods
            remaining = count
            // Kept for the rest of the process: the file refers to it until it is closed.
            let replaced = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
            replaced.initialize(to: methods.pointee)
            replaced.pointee.xWrite = { file, bytes, count, offset in
                FullDisk.remaining -= 1
                guard FullDisk.remaining >= 0, let write = FullDisk.original?.pointee.xWrite else { return SQLITE_FULL }
                return write(file, bytes, count, offset)
            }
            file.pointee.pMethods = UnsafePointer(replaced)
        }
    }
}
