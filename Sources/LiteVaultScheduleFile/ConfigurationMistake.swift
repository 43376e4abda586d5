internal import LiteVaultBackup
package import LiteVaultSchedule
internal import LiteVaultSystem

/// Something in a configuration file that is wrong.
package struct ConfigurationMistake: Error, Sendable {
    /// Where, from 1; nil if it is the whole file.
    let place: YAMLPlace?
    package var line: Int? { place?.line }
    package var column: Int? { place?.column }
    package let message: String
    package let remedy: String?
    /// What it is about; nil if the rest of the file cannot be read without it.
    let part: YAMLNode.Part?

    /// Whether the value that it is about lacks something that was left out.
    fileprivate func isConsequence(of incomplete: Set<YAMLPlace>) -> Bool {
        // A key is not a value, but a mapping in block style begins at its first key.
        guard let place, part?.key != place else { return false }
        return incomplete.contains(place)
    }
}

extension ScheduleConfiguration {
    /// Reads the text of the file at `path`, and finds everything in it that is wrong, not only what comes first.
    ///
    /// What is wrong is left out, or replaced where others depend on it, and the rest is read again. What then is missing because of that is
    /// not reported. Of a file that is full of mistakes, the first 200 are enough.
    ///
    /// - Returns: the configuration, if nothing is wrong; else the mistakes, in the order of the file.
    package static func examine(path: String, text: String) -> Result<ScheduleConfiguration, Mistakes> {
        var found: [ConfigurationMistake] = []
        do {
            var duplicates: [YAMLError] = []
            var root = try document(text, path, duplicates: &duplicates)
            found = duplicates.prefix(rereadLimit).map {
                .init(place: $0.place, message: $0.message, remedy: "Keep one of them.", part: nil)
            }
            // Mappings and sequences from which something was left out.
            var incomplete: Set<YAMLPlace> = []
            for _ in 0..<rereadLimit {
                do {
                    let configuration = try ScheduleConfiguration(root, path: path)
                    if found.isEmpty { return .success(configuration) }
                    break
                } catch let error as VaultError {
                    guard let mistake = error.cause as? ConfigurationMistake, let part = mistake.part else {
                        throw error
                    }
                    // What takes the place of a value may be refused for the reason for which that was.
                    let isKnown = found.contains { $0.place == mistake.place && $0.message == mistake.message }
                    if !isKnown, !mistake.isConsequence(of: incomplete) { found.append(mistake) }
                    var around: [YAMLPlace] = []
                    guard let rest = root.without(part, standIns, around: &around), rest != root else { break }
                    incomplete.formUnion(around)
                    root = rest
                }
            }
        } catch let error as VaultError {
            found.append(
                error.cause as? ConfigurationMistake
                    ?? .init(place: nil, message: error.message, remedy: error.remedy, part: nil))
        } catch {
            found.append(.init(place: nil, message: "\(error)", remedy: nil, part: nil))
        }
        return .failure(.init(all: found.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }))
    }

    /// How often the rest is read again: a file may be all mistakes.
    private static let rereadLimit = 200

    /// Values that are accepted, for keys without which nothing else in a job would be read. A job's name is that of its place.
    private static let standIns = ["sources": "/", "repository": "/", "every": "1h", "at": "hourly"]

    package struct Mistakes: Error { package let all: [ConfigurationMistake] }
}
