internal import LiteVaultSystem

/// Where the health and the metrics of a running schedule are served: an address of this machine, and a port.
package struct ListenAddress: Sendable, Equatable, CustomStringConvertible {
    /// The address as digits, without brackets.
    package let host: String
    package let port: UInt16

    /// Reads `9464`, `127.0.0.1:9464`, `[::1]:9464` or `localhost:9464`. A port alone is one of this machine's loopback interface, so that
    /// nobody else is served unless an address says so.
    ///
    /// - Throws: ``InvalidSetting`` with the key `listen`.
    package init(_ text: String) throws(InvalidSetting) {
        let (host, digits) = Self.parts(text)
        guard let host, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else {
            throw Self.error("'\(text.prefix(64))' is not a port or ADDRESS:PORT")
        }
        guard let port = UInt16(digits) else { throw Self.error("port '\(digits.prefix(16))' is above 65535") }
        guard port > 0 else { throw Self.error("port 0 stands for any free port, which no client would know") }
        let named = host == "localhost" || host.isEmpty ? Self.loopback : host
        guard Self.isNumeric(named) else {
            throw Self.error("'\(host.prefix(64))' is not an address of digits: names are not looked up")
        }
        (self.host, self.port) = (named, port)
    }

    /// As ``init(_:)`` reads it.
    package var description: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

    private static let loopback = "127.0.0.1"

    /// The address, empty for that of a port alone, and the port; an address of nil if there is no telling them apart.
    private static func parts(_ text: String) -> (host: String?, port: String) {
        guard let colon = text.utf8.lastIndex(of: UInt8(ascii: ":")) else { return ("", text) }
        let (host, port) = (text[..<colon], String(text[text.utf8.index(after: colon)...]))
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inside = host.dropFirst().dropLast()
            return (inside.utf8.contains(UInt8(ascii: ":")) ? String(inside) : nil, port)
        }
        // An address with colons needs brackets; nothing before the colon is left out by mistake.
        return (host.isEmpty || host.utf8.contains(UInt8(ascii: ":")) ? nil : String(host), port)
    }

    private static func isNumeric(_ host: String) -> Bool {
        var (four, six) = (in_addr(), in6_addr())
        return inet_pton(AF_INET, host, &four) == 1 || inet_pton(AF_INET6, host, &six) == 1
    }

    private static func error(_ message: String) -> InvalidSetting {
        InvalidSetting(
            "listen", message,
            "Write a port, 9464 for instance, to serve this machine alone, or ADDRESS:PORT such as 192.0.2.7:9464 or [::1]:9464."
        )
    }
}
