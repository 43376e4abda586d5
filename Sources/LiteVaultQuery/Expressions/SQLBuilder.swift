package import LiteVaultCore
internal import LiteVaultSystem

/// Builds SQL text and collects the values of its parameters.
///
/// The text is raw bytes: the statement cache is searched by them, so a query that ran before needs no `String`.
@usableFromInline
package struct SQLBuilder: ~Copyable {
    private var start: UnsafeMutablePointer<UInt8>
    private var count = 0
    private var capacity = 256
    package private(set) var bindings: [(any Binding)?] = []

    package init() { start = .allocate(capacity: capacity) }

    deinit { start.deallocate() }

    package var sql: String { String(decoding: utf8, as: UTF8.self) }

    /// The text as UTF-8. Valid until the next append, and while the builder lives.
    package var utf8: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: start, count: count) }

    package mutating func append(_ node: SQLNode) {
        switch node.kind {
        case .text(let text): append(text)
        case .template(let template, let values):
            append(template)
            bindings += values
        case .identifier(let name): append(quoting: name)
        case .value(let value): append(binding: value)
        case .joined(let nodes, let separator):
            var isFirst = true
            for node in nodes {
                if !isFirst { append(separator) }
                isFirst = false
                append(node)
            }
        case .wrapped(let prefix, let inner):
            append(prefix)
            append(UInt8(ascii: "("))
            append(inner)
            append(UInt8(ascii: ")"))
        case .operation(let lhs, let name, let rhs):
            append(UInt8(ascii: "("))
            append(lhs.asLeftOperand(of: name))
            append(UInt8(ascii: " "))
            append(name)
            append(UInt8(ascii: " "))
            append(rhs)
            append(UInt8(ascii: ")"))
        case .qualified(let table, let column):
            append(table)
            append(UInt8(ascii: "."))
            append(column)
        case .fragment(let fragment): fragment.render(into: &self)
        }
    }

    mutating func append(binding value: (any Binding)?) {
        append(UInt8(ascii: "?"))
        if bindings.isEmpty { bindings.reserveCapacity(8) }
        bindings.append(value)
    }

    mutating func append(quoting name: String) {
        append(UInt8(ascii: "\""))
        if name.utf8.contains(UInt8(ascii: "\"")) {
            for byte in name.utf8 {
                append(byte)
                if byte == UInt8(ascii: "\"") { append(byte) }
            }
        } else {
            append(name)
        }
        append(UInt8(ascii: "\""))
    }

    mutating func append(_ text: String) {
        // All native strings are contiguous.
        if text.utf8.withContiguousStorageIfAvailable({ append($0) }) != nil { return }
        for byte in text.utf8 { append(byte) }
    }

    /// Appends text known at compile time.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(list nodes: [SQLNode]) {
        var isFirst = true
        for node in nodes {
            if !isFirst { append(", ") }
            isFirst = false
            append(node)
        }
    }

    @inline(__always)
    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress else { return }
        if count &+ bytes.count > capacity { grow(bytes.count) }
        (start + count).update(from: source, count: bytes.count)
        count &+= bytes.count
    }

    @inline(__always)
    private mutating func append(_ byte: UInt8) {
        if count == capacity { grow(1) }
        start[count] = byte
        count &+= 1
    }

    @inline(never)
    private mutating func grow(_ length: Int) {
        capacity = max(capacity * 2, count + length)
        let grown = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        grown.update(from: start, count: count)
        start.deallocate()
        start = grown
    }
}
