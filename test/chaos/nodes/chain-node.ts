import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { Direct } from './direct.ts';
import { readCall, type StaleView } from './stale-views.ts';

/** JSON-RPC of a node: that of the ledger, or of a stale view of it. */
export class ChainNode {
  /** Null for the ledger itself. */
  view: StaleView | null = null;
  readonly #ledger: Direct;
  readonly #server: Server;

  private constructor(ledger: Direct) {
    this.#ledger = ledger;
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(ledger: Direct): Promise<ChainNode> {
    const node = new ChainNode(ledger);
    node.#server.listen(0, '127.0.0.1');
    await once(node.#server, 'listening');
    return node;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      const body = await text(request);
      const { status, text: answer } = await this.#respond(body);
      response.writeHead(status, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(answer),
      });
      response.end(answer);
    } catch {
      // The client disconnected, or the ledger ends.
      response.destroy();
    }
  }

  async #respond(body: string): Promise<{ status: number; text: string }> {
    const { view } = this;
    const call = view === null ? null : readCall(body);
    if (view === null || call === null) return this.#ledger.post(body);
    return { status: 200, text: await view.answer(call) };
  }
}
