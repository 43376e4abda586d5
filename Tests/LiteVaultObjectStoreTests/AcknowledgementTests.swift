import LiteVaultObjectStore
import LiteVaultSupport
import NIOCore
import NIOPosix
import Testing

/// How soon what a server sends is acknowledged: one without TCP_NODELAY waits for that.
@Suite struct AcknowledgementTests {
    @Test(.enabled(if: Platform.quickAcknowledgement != nil, "the system has no TCP_QUICKACK"))
    func `what was read is acknowledged at once, where the system would wait for an answer to send it with`() async throws {
        #expect(try await exchange(installing: true).allSatisfy { $0 })
        #expect(try await exchange(installing: false).contains(false))
    }

    /// Sends a byte and waits for its echo, a hundred times. Returns for each whether the connection acknowledges at once.
    private func exchange(installing: Bool) async throws -> [Bool] {
        let group = MultiThreadedEventLoopGroup.singleton
        let server = try await ServerBootstrap(group: group)
            .childChannelInitializer { channel in
                channel.eventLoop.submit { try channel.pipeline.syncOperations.addHandler(Echo()) }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let answers = group.next().makePromise(of: [Bool].self)
        let client = try await ClientBootstrap(group: group)
            .channelInitializer { channel in
                let installed = installing ? PromptAcknowledgement.install(channel) : channel.eventLoop.makeSucceededVoidFuture()
                return installed.flatMapThrowing { try channel.pipeline.syncOperations.addHandler(Sender(answers)) }
            }
            .connect(to: try #require(server.localAddress)).get()
        let found = try await answers.futureResult.get()
        try await client.close()
        try await server.close()
        return found
    }
}

private final class Echo: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { context.writeAndFlush(data, promise: nil) }
}

private final class Sender: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answers: EventLoopPromise<[Bool]>
    private var found: [Bool] = []

    init(_ answers: EventLoopPromise<[Bool]>) { self.answers = answers }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    func channelReadComplete(context: ChannelHandlerContext) {
        do {
            let option = ChannelOptions.Types.SocketOption(
                level: .tcp, name: NIOBSDSocket.Option(rawValue: Platform.quickAcknowledgement ?? 0))
            found.append(try context.channel.syncOptions?.getOption(option) == 1)
        } catch {
            answers.fail(error)
        }
        if found.count < 100 { send(context) } else { answers.succeed(found) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { answers.fail(error) }

    private func send(_ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [1])), promise: nil)
    }
}
