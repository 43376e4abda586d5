internal import LiteVaultCapture

/// The names that objects may have, the same in every store.
package enum ObjectName {
    /// Whether an object may have the name.
    static func isValid(_ name: String) -> Bool { (try? validate(name)) != nil }

    /// Refuses what is no name: parts between slashes of ASCII letters, digits, `-`, `_` and `.`, none of them empty or
    /// starting with a dot; 512 bytes at most.
    ///
    /// - Throws: ``BackupError`` `internal`. Names are made by this program, never by users.
    package static func validate(_ name: String) throws {
        let parts = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let valid =
            name.utf8.count <= 512
            && parts.allSatisfy { part in
                part.first != nil && part.first != UInt8(ascii: ".") && part.count <= 200 && part.allSatisfy(isAllowed)
            }
        guard valid else { throw BackupError(.internal, "is no name of an object", path: name) }
    }

    /// Refuses what no name can start with. The empty prefix is that of all objects.
    package static func validate(prefix: String) throws {
        guard prefix.utf8.allSatisfy({ isAllowed($0) || $0 == UInt8(ascii: "/") }), !prefix.hasPrefix("/"),
            !prefix.split(separator: "/").contains(where: { $0.hasPrefix(".") })
        else { throw BackupError(.internal, "is no prefix of objects' names", path: prefix) }
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
