internal import LiteVaultQuoting
internal import LiteVaultSystem

/// The variables that a service's commands are given, as far as its unit and the files that this names have them (systemd.exec(5)).
struct ServiceEnvironment {
    private var values: [String: Result<String, UnknownSystemdValue>] = [:]
    /// Why a variable without a value has one that is not known.
    private var gap = "no value in its files"

    /// - Parameters:
    ///   - settings: those of the unit and its drop-ins, in order.
    ///   - unit: what specifiers stand for.
    init(_ settings: [(name: String, value: String)], of unit: SystemdUnitName) {
        for assignment in Self.items("Environment", settings) {
            for word in Quoting.systemdWords(of: assignment) ?? [] { add(word, unit) }
        }
        // Files are read after all of them, and win.
        for file in Self.items("EnvironmentFile", settings) { read(file, unit) }
        let removed = Self.items("UnsetEnvironment", settings).flatMap { Quoting.systemdWords(of: $0) ?? [] }
        for word in removed {
            let (name, value) = Self.assignment(word)
            if value.isEmpty || (try? values[name]?.get()) == value { values[name] = .success("") }
        }
    }

    /// The value of a variable.
    ///
    /// - Throws: `UnknownSystemdValue` if the files of the service do not give it: systemd may, or its own environment.
    func value(_ name: String) throws(UnknownSystemdValue) -> String {
        guard let value = values[name] else { throw UnknownSystemdValue("$\(name) has \(gap)") }
        return try value.get()
    }

    private mutating func add(_ word: String, _ unit: SystemdUnitName) {
        do throws(UnknownSystemdValue) {
            let text = try Quoting.systemdText(word, of: unit)
            let (name, value) = Self.assignment(text)
            if Quoting.isVariableName(name), text.utf8.contains(UInt8(ascii: "=")) { values[name] = .success(value) }
        } catch { values[Self.assignment(word).name] = .failure(error) }
    }

    /// Reads the files of a setting, which may have a pattern. With `-` before it, one that does not exist is left out.
    private mutating func read(_ setting: String, _ unit: SystemdUnitName) {
        let isOptional = setting.utf8.first == UInt8(ascii: "-")
        let pattern = isOptional ? String(setting.dropFirst()) : setting
        let paths: [String]
        do throws(UnknownSystemdValue) {
            let text = try Quoting.systemdText(pattern, of: unit)
            // The path itself where nothing matches.
            let found = PathPattern.matches(text, flags: GLOB_NOCHECK)
            if let path = found?.notUTF8.first {
                return lose("a value that depends on \(path), whose name is not UTF-8")
            }
            paths = found?.paths ?? [text]
        } catch { return lose("a value that depends on EnvironmentFile=\(setting), where \(error.reason)") }
        for path in paths {
            do throws(SystemError) {
                let bytes = try InputFile(path: path).readToEnd()
                for (name, value) in Quoting.systemdEnvironment(in: String(decoding: bytes, as: UTF8.self)) {
                    values[name] = .success(value)
                }
            } catch {
                if isOptional, error.code == ENOENT { continue }
                lose("a value that depends on \(path), which cannot be read: \(error)")
            }
        }
    }

    /// From here on, only what later files assign is known.
    private mutating func lose(_ reason: String) {
        values = [:]
        gap = reason
    }

    /// The values of a setting that is a list. An empty one drops those before it.
    static func items(_ name: String, _ settings: [(name: String, value: String)]) -> [String] {
        settings.filter { $0.name == name }.reduce(into: []) { items, setting in
            if setting.value.isEmpty { items = [] } else { items.append(setting.value) }
        }
    }

    private static func assignment(_ word: String) -> (name: String, value: String) {
        let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        let texts = parts.map { String(decoding: $0, as: UTF8.self) }
        return (texts[0], texts.count > 1 ? texts[1] : "")
    }
}
