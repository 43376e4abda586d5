internal import LiteVaultBackup
internal import LiteVaultSystem

/// Which requests go through a proxy.
///
/// By the variables `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, read as the AWS tools read them, or by a setting. libcurl would read
/// them differently from version to version.
package struct ProxyRules: Sendable {
    /// A proxy. Neither its description nor its mirror shows user and password.
    package struct Proxy: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible,
        CustomReflectable
    {
        /// `SCHEME://HOST:PORT`, without user and password.
        package let url: String
        package let user: String?
        package let password: String?

        /// Parses `[SCHEME://][USER:PASSWORD@]HOST[:PORT]`; nil for other text, and other schemes than `http` and `https`.
        package init?(_ text: String) {
            let text = text.trimmed
            guard let url = URLComponents(string: text.contains("://") ? text : "http://" + text),
                let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https", let host = url.host,
                !host.isEmpty, url.path.isEmpty || url.path == "/", url.query == nil, url.fragment == nil
            else { return nil }
            let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
            self.url = "\(scheme)://\(name):\(url.port ?? (scheme == "https" ? 443 : 80))"
            user = url.user
            password = url.password
        }

        package var description: String { url }
        package var debugDescription: String { url }
        package var customMirror: Mirror { Mirror(self, children: ["url": url]) }
    }

    private let secure: Proxy?
    private let plain: Proxy?
    private let exceptions: [ProxyException]

    /// No request goes through a proxy.
    package static let none = ProxyRules(nil)

    /// All requests go through this proxy, or none.
    package init(_ proxy: Proxy?) {
        (secure, plain, exceptions) = (proxy, proxy, [])
    }

    /// What the environment says. Of a variable in both cases, the one in lowercase counts, even if it is empty.
    ///
    /// - Throws: `VaultError` `config` if a variable does not name a proxy. Its value is not shown: it may contain a password.
    package init(environment: [String: String]) throws {
        func value(_ name: String) -> String {
            // A server that runs a program for a request (CGI) passes the header "Proxy" on as HTTP_PROXY.
            if name == "http_proxy", environment["REQUEST_METHOD"] != nil { return environment[name] ?? "" }
            return environment[name] ?? environment[name.uppercased()] ?? ""
        }
        func proxy(_ name: String) throws -> Proxy? {
            let text = value(name)
            guard !text.trimmed.isEmpty else { return nil }
            guard let proxy = Proxy(text) else {
                throw VaultError(
                    .config, "\(name.uppercased()) does not name a proxy",
                    remedy:
                        "Write it as http://HOST:PORT, or http://USER:PASSWORD@HOST:PORT with special characters as %XX."
                )
            }
            return proxy
        }
        secure = try proxy("https_proxy")
        plain = try proxy("http_proxy")
        exceptions = value("no_proxy").split(whereSeparator: { $0 == "," || $0.isWhitespace })
            .compactMap { ProxyException(String($0)) }
    }

    package func proxy(for url: String) -> Proxy? {
        guard secure != nil || plain != nil, let url = URLComponents(string: url), let host = url.host else {
            return nil
        }
        let isSecure = url.scheme?.lowercased() == "https"
        let port = url.port ?? (isSecure ? 443 : 80)
        if exceptions.contains(where: { $0.covers(host, port: port) }) { return nil }
        return isSecure ? secure : plain
    }
}

/// An entry of `NO_PROXY`.
private struct ProxyException: Sendable {
    private enum Hosts {
        case all
        /// A host, and all below its domain.
        case domain(String)
        /// Addresses that begin with these bits.
        case network([UInt8], bits: Int)
    }

    private let hosts: Hosts
    private let port: Int?

    /// Parses `*`, `HOST`, `.DOMAIN`, `*.DOMAIN`, `ADDRESS` or `ADDRESS/BITS`, with `:PORT` or without.
    init?(_ entry: String) {
        if entry == "*" {
            (hosts, port) = (.all, nil)
            return
        }
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let address = Self.address(String(parts[0])), let bits = Int(parts[1]),
                (0...address.count * 8).contains(bits)
            else { return nil }
            (hosts, port) = (.network(address, bits: bits), nil)
            return
        }
        let (host, port) = Self.split(entry)
        if let address = Self.address(host) {
            hosts = .network(address, bits: address.count * 8)
        } else {
            var name = Self.normal(host)[...]
            if name.hasPrefix("*.") { name = name.dropFirst() }
            while name.hasPrefix(".") { name = name.dropFirst() }
            guard !name.isEmpty else { return nil }
            hosts = .domain(String(name))
        }
        self.port = port
    }

    func covers(_ host: String, port: Int) -> Bool {
        guard self.port == nil || self.port == port else { return false }
        switch hosts {
        case .all: return true
        case .domain(let name):
            let host = Self.normal(host)
            return host == name || host.hasSuffix("." + name)
        case .network(let network, let bits):
            guard let address = Self.address(host), address.count == network.count else { return false }
            let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
            guard address[..<whole] == network[..<whole] else { return false }
            return rest == 0 || (address[whole] ^ network[whole]) >> (8 - rest) == 0
        }
    }

    /// Host and port of `HOST:PORT` or `[ADDRESS]:PORT`.
    private static func split(_ entry: String) -> (String, Int?) {
        guard let colon = entry.lastIndex(of: ":"), let port = Int(entry[entry.index(after: colon)...]) else {
            return (entry, nil)
        }
        let host = entry[..<colon]
        // Without brackets, several colons are those of an address.
        return host.contains(":") && !host.hasSuffix("]") ? (entry, nil) : (String(host), port)
    }

    private static func normal(_ host: String) -> String {
        let host = host.lowercased()
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }

    /// The bytes of an IPv4 or IPv6 address, with brackets or without; nil for a name.
    private static func address(_ text: String) -> [UInt8]? {
        let text = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        for (family, count) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: count)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }
}
