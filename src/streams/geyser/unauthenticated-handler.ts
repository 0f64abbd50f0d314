import { requestBounds } from '../../protocol/geyser/request/request-bounds.ts';
import type { GeyserHandler, GeyserStream, StreamRpc, UnaryRpc } from './geyser-handler.ts';
import type { GeyserSink } from './geyser-sink.ts';
import type { StreamOpener } from './stream-opener.ts';

/** A door that asks for no key and sets no limits of a plan, as that of a node. */
export class UnauthenticatedHandler implements GeyserHandler {
  readonly #opener: StreamOpener;

  constructor(opener: StreamOpener) {
    this.#opener = opener;
  }

  open(_caller: unknown, rpc: StreamRpc, sink: GeyserSink): GeyserStream {
    const stream = this.#opener.open(rpc, sink);
    return {
      isUrgent: false,
      bounds: requestBounds,
      request: (request) => stream.request(request),
      recordSent: () => {},
      recordReceived: () => 0,
      close: () => stream.close(),
    };
  }

  admit(): void {}

  async unary(_caller: unknown, rpc: UnaryRpc, request: Uint8Array): Promise<Uint8Array> {
    return this.#opener.unary(rpc, request);
  }
}
