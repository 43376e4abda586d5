import Foundation

/// The files that this process has open, those without a name included.
enum OpenFiles {
    /// The contents of every open regular file whose name contains one of the texts.
    static func contents(ofNamesContaining texts: [String]) throws -> [String: [UInt8]] {
        var result: [String: [UInt8]] = [:]
        let links = URL(fileURLWithPath: "/proc/self/fd")
        for entry in try FileManager.default.contentsOfDirectory(atPath: links.path) {
            let link = links.appendingPathComponent(entry).path
            guard let name = try? FileManager.default.destinationOfSymbolicLink(atPath: link), name.hasPrefix("/"),
                texts.contains(where: { name.contains($0) }), let data = FileManager.default.contents(atPath: link)
            else { continue }
            result[name] = Array(data)
        }
        return result
    }
}
