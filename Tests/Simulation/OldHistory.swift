import Crypto
import Foundation
import LiteVaultBackup
import LiteVaultSystem
import Testing

/// What an older version would have stored: labels are what the clock said, and nothing else tells the order.
enum OldHistory {
    /// Rewrites the documents of a repository without a secret.
    static func made(of objects: [String: [UInt8]]) throws -> [String: [UInt8]] {
        var result = objects.filter { !$0.key.hasPrefix("leases/") }
        var bases: [String: String] = [:]
        var before: String?
        for name in result.keys.filter({ $0.hasPrefix("snapshots/") }).sorted() {
            var (document, payload) = try read(objects[name] ?? [])
            document["time"] = document["clock"] ?? document["time"]
            if let run = (document["followed"] as? [String: Any])?["run"] as? String, bases[run] == nil {
                bases[run] = document["time"] as? String
            }
            for member in ["clock", "followed", "newest_segment"] { document[member] = nil }
            document["predecessor"] = before
            (result[name], before) = try written(document, payload)
        }
        before = nil
        for name in result.keys.filter({ $0.hasPrefix("segments/") }).sorted() {
            var (document, payload) = try read(objects[name] ?? [])
            let seen = (document["clock"] as? NSNumber ?? document["seen"] as? NSNumber)?.int64Value ?? 0
            document["seen"] = seen
            document["time"] = text(seen)
            if let run = document["run"] as? String, let base = bases[run], let began = document["began"] as? String {
                document["began"] = min(began, base)
            }
            for member in ["clock", "start"] { document[member] = nil }
            if var joined = document["joined"] as? [String: Any] {
                joined["logs"] = nil
                document["joined"] = joined
            }
            document["predecessor"] = before
            result[name] = nil
            let other = name.split(separator: ".").dropLast().joined(separator: ".") + ".\(seen)"
            (result[other], before) = try written(document, payload)
        }
        return result
    }

    private static func text(_ label: Int64) -> String {
        let whole = Date(timeIntervalSince1970: Double(label / 1000)).formatted(Date.ISO8601FormatStyle())
        return whole.dropLast() + String(format: ".%03dZ", Int(label % 1000))
    }

    private static func read(_ bytes: [UInt8]) throws -> ([String: Any], ArraySlice<UInt8>) {
        let lines = bytes.split(separator: 10, maxSplits: 2, omittingEmptySubsequences: false)
        let found = try JSONSerialization.jsonObject(with: Data(lines[0])) as? [String: Any]
        return (try #require(found), lines.count > 2 ? lines[2] : [])
    }

    private static func written(_ document: [String: Any], _ payload: ArraySlice<UInt8>) throws -> ([UInt8], String) {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        let body = try [UInt8](JSONSerialization.data(withJSONObject: document, options: options)) + [10]
        let hash = SHA256.hash(data: body).map { String(format: "%02x", $0) }.joined()
        return (body + Array("sha256 \(hash)\n".utf8) + payload, hash)
    }
}
