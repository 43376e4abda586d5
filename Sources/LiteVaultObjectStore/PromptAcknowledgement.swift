internal import LiteVaultSupport
package import NIOCore

/// Acknowledges what has been read of a response at once (`TCP_QUICKACK`).
///
/// A server without `TCP_NODELAY`, as Ceph's gateway is by default, holds back what does not fill a segment until all before it is
/// acknowledged: a short body after its head, or the end of a long one. The system would acknowledge 40 ms later, which is most of
/// what a small request takes in a local network.
package final class PromptAcknowledgement: ChannelInboundHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer

    private let option: ChannelOptions.Types.SocketOption

    private init(_ option: CInt) {
        self.option = ChannelOptions.Types.SocketOption(level: .tcp, name: NIOBSDSocket.Option(rawValue: option))
    }

    /// Puts a handler before all others of a connection, where the system has the option.
    package static func install(_ channel: any Channel) -> EventLoopFuture<Void> {
        guard let option = Platform.quickAcknowledgement else { return channel.eventLoop.makeSucceededVoidFuture() }
        return channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandler(PromptAcknowledgement(option), position: .first)
        }
    }

    package func channelReadComplete(context: ChannelHandlerContext) {
        // The system forgets it. Where it fails, the system acknowledges later.
        try? context.channel.syncOptions?.setOption(option, value: 1)
        context.fireChannelReadComplete()
    }
}
