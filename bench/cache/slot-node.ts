import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resultOf, slotNow } from '../rpc/node-responses.ts';

/** Calls of one method by slot. */
export type CallsBySlot = ReadonlyMap<number, number>;

const NO_CALLS: CallsBySlot = new Map();

type ReceivedRequest = Readonly<{ id: number; method: string; params?: unknown }>;

/** A node whose slots follow the clock; counts calls by method, params and slot. */
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
   * Live view of the calls of a method.
   * @param params - raw JSON without spaces, which distinguishes client calls from the gateway's own polls.
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
