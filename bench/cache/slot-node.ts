import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resultOf, slotNow } from '../rpc/node-responses.ts';

/** How many calls of one method came in each slot. */
export type CallsBySlot = ReadonlyMap<number, number>;

const NO_CALLS: CallsBySlot = new Map();

type ReceivedRequest = Readonly<{ id: number; method: string; params?: unknown }>;

/** A node whose slots go by the clock, and which counts what it is asked: by method and params, by slot. */
export class SlotNode {
  readonly #calls = new Map<string, Map<number, number>>();
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method, params } = JSON.parse(Buffer.concat(chunks).toString()) as ReceivedRequest;
      const slot = slotNow();
      this.#count(method, JSON.stringify(params ?? []), slot);
      const body = `{"jsonrpc":"2.0","result":${resultOf(method, slot)},"id":${id}}`;
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body);
    });
  });

  get slot(): number {
    return slotNow();
  }

  /**
   * Calls of a method so far. Whoever keeps it sees it grow.
   * @param params - raw JSON without space: what clients ask differs by it from what a gateway asks for itself.
   */
  callsOf(method: string, params: string): CallsBySlot {
    return this.#calls.get(method + params) ?? NO_CALLS;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #count(method: string, params: string, slot: number): void {
    let calls = this.#calls.get(method + params);
    if (calls === undefined) {
      calls = new Map();
      this.#calls.set(method + params, calls);
    }
    calls.set(slot, (calls.get(slot) ?? 0) + 1);
  }
}
