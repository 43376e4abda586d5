/// The name of a systemd unit, by its parts (systemd.unit(5)).
package struct SystemdUnitName: Sendable {
    /// With the suffix, as `litevault@daily.service`.
    package let text: String
    /// What is before the `@`; the name without the suffix where there is none.
    package let prefix: String
    /// What is behind the `@`: empty for a template; nil without one.
    package let instance: String?
    /// The type, as `service`.
    package let type: String

    package init(_ unit: String) {
        text = unit
        let bytes = Array(unit.utf8)
        let dot = bytes.lastIndex(of: UInt8(ascii: ".")) ?? bytes.endIndex
        let stem = bytes[..<dot]
        type = Self.string(bytes[dot...].dropFirst())
        guard let at = stem.firstIndex(of: UInt8(ascii: "@")) else {
            (prefix, instance) = (Self.string(stem), nil)
            return
        }
        (prefix, instance) = (Self.string(stem[..<at]), Self.string(stem[(at + 1)...]))
    }

    package var isTemplate: Bool { instance == "" }
    package var isInstance: Bool { instance.map { !$0.isEmpty } ?? false }
    /// The name without the suffix.
    package var stem: String { prefix + (instance.map { "@\($0)" } ?? "") }
    /// The template of an instance; nil for any other unit.
    package var template: String? { isInstance ? "\(prefix)@.\(type)" : nil }

    /// The units whose drop-ins apply to this one, the most specific first: itself, its template, those that its name begins with up to a dash,
    /// and all of its type.
    package var dropInNames: [String] { chain + [type] }

    private var chain: [String] {
        var names = [text]
        if let template { names += SystemdUnitName(template).chain }
        // A dash at the end is that of a name which was shortened before.
        let bytes = Array(prefix.utf8)
        if let dash = bytes.dropLast().lastIndex(of: UInt8(ascii: "-")) {
            // A template becomes a unit without an instance.
            let shorter = Self.string(bytes[...dash]) + (isInstance ? "@\(instance ?? "")" : "") + ".\(type)"
            names += SystemdUnitName(shorter).chain
        }
        return names
    }

    /// What a specifier stands for in this unit, of a manager that runs as root; nil if that is not known.
    package func value(ofSpecifier letter: UInt8) -> String? {
        switch letter {
        case UInt8(ascii: "n"): text
        case UInt8(ascii: "N"): stem
        case UInt8(ascii: "p"): prefix
        case UInt8(ascii: "P"): Self.unescaped(prefix)
        case UInt8(ascii: "i"): instance ?? ""
        case UInt8(ascii: "I"): Self.unescaped(instance ?? "")
        case UInt8(ascii: "j"): lastComponent
        case UInt8(ascii: "J"): Self.unescaped(lastComponent)
        case UInt8(ascii: "f"): path
        case UInt8(ascii: "h"): "/root"
        case UInt8(ascii: "u"), UInt8(ascii: "g"): "root"
        case UInt8(ascii: "U"), UInt8(ascii: "G"): "0"
        case UInt8(ascii: "t"): "/run"
        case UInt8(ascii: "S"): "/var/lib"
        case UInt8(ascii: "C"): "/var/cache"
        case UInt8(ascii: "L"): "/var/log"
        case UInt8(ascii: "E"): "/etc"
        default: nil
        }
    }

    private var lastComponent: String {
        prefix.utf8.lastIndex(of: UInt8(ascii: "-")).map { Self.string(prefix.utf8[$0...].dropFirst()) } ?? prefix
    }

    /// The instance, or the prefix, as the path that was escaped.
    private var path: String? {
        let escaped = instance ?? prefix
        return escaped == "-" ? "/" : Self.unescaped(escaped).map { "/" + $0 }
    }

    /// A part of a name without escapes: `-` stands for `/`, and `\x` with two digits for a byte.
    ///
    /// - Returns: nil for anything else behind a backslash, which systemd refuses.
    package static func unescaped(_ part: String) -> String? {
        var result: [UInt8] = []
        var rest = Array(part.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "-"): result.append(UInt8(ascii: "/"))
            case Quoting.backslash:
                let digits = rest.dropFirst().prefix(2)
                guard rest.first == UInt8(ascii: "x"), digits.count == 2, digits.first != UInt8(ascii: "+"),
                    let value = UInt8(string(digits), radix: 16)
                else { return nil }
                result.append(value)
                rest = rest.dropFirst(3)
            default: result.append(byte)
            }
        }
        return string(result)
    }

    private static func string(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: Array(bytes), as: UTF8.self)
    }
}
