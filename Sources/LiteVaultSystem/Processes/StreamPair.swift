internal import CSystem

/// Two connected streams: one end for this process, the other for a child's standard input and output.
///
/// Neither end is inherited by other children. This process's end never blocks, and sending to a child that has ended is an
/// error instead of a signal.
package final class StreamPair: Sendable {
    /// This process's end.
    package let own: Int32
    /// The child's end.
    package let child: Int32
    private let isChildOpen = Locked(true)

    /// Connects two streams.
    ///
    /// - Throws: ``SystemError`` if the system has no descriptors left.
    package init() throws(SystemError) {
        var ends: [Int32] = [-1, -1]
        guard cps_connected_streams(&ends) == 0 else { throw SystemError(code: errno) }
        (own, child) = (ends[0], ends[1])
    }

    deinit {
        close(own)
        closeChild()
    }

    /// Closes the child's end, of which a child that was started has its own copy.
    package func closeChild() {
        isChildOpen.withLock { isOpen in
            if isOpen { close(child) }
            isOpen = false
        }
    }

    /// Sends as many of `bytes` as the stream takes now.
    ///
    /// - Returns: their number; 0 if the stream is full, nil if the other end is closed.
    package static func send(_ bytes: UnsafeRawBufferPointer, to stream: Int32) -> Int? {
        guard let start = bytes.baseAddress, !bytes.isEmpty else { return 0 }
        while true {
            let sent = cps_send(stream, start, bytes.count)
            if sent >= 0 { return Int(sent) }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK, ENOBUFS: return 0
            default: return nil
            }
        }
    }

    /// Receives what has arrived.
    ///
    /// - Returns: the number of bytes; 0 if nothing has arrived, nil at the end.
    package static func receive(into buffer: UnsafeMutableRawBufferPointer, from stream: Int32) -> Int? {
        while true {
            let count = read(stream, buffer.baseAddress, buffer.count)
            if count > 0 { return count }
            if count == 0 { return nil }
            switch errno {
            case EINTR: continue
            case EAGAIN, EWOULDBLOCK: return 0
            default: return nil
            }
        }
    }
}
