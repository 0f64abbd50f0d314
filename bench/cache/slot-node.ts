import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export const SLOT_MS = 400;
const FIRST_SLOT = 300_000_000;
const ACCOUNT = JSON.stringify({
  ...{ data: ['', 'base64'], executable: false, lamports: 1 },
  ...{ owner: '11111111111111111111111111111111', rentEpoch: 0, space: 0 },
});

/** A node whose slots go by the clock, and which counts what it is asked. */
export class SlotNode {
  readonly asked = new Map<string, number>();
  readonly #startedAt = performance.now();
  readonly #server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { id, method } = JSON.parse(Buffer.concat(chunks).toString()) as { id: number; method: string };
      this.asked.set(method, this.countOf(method) + 1);
      const body = `{"jsonrpc":"2.0","result":${this.#resultOf(method)},"id":${id}}`;
      response
        .writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
        .end(body);
    });
  });

  get slot(): number {
    return FIRST_SLOT + Math.floor((performance.now() - this.#startedAt) / SLOT_MS);
  }

  countOf(method: string): number {
    return this.asked.get(method) ?? 0;
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  close(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #resultOf(method: string): string {
    if (method === 'getSlot' || method === 'getMaxShredInsertSlot') return String(this.slot);
    if (method === 'getHealth') return '"ok"';
    return `{"context":{"apiVersion":"3.0.0","slot":${this.slot}},"value":${ACCOUNT}}`;
  }
}
