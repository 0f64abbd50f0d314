import type { Address } from '../../src/ledger/address.ts';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { encodeSubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { geyserLimits } from '../../src/upstream/feeds/geyser/geyser-limits.ts';
import { GrpcStream } from '../../src/upstream/feeds/geyser/grpc-stream.ts';

const TRANSACTION = 4;

/** The first field of a message that has the number; null for none. */
function fieldOf(bytes: Uint8Array, number: number): Uint8Array | null {
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === number) return reader.bytes();
    reader.skip();
  }
  return null;
}

/** The signature of the transaction in a `SubscribeUpdate`, in hex; null where it is something else. */
function signatureIn(update: Uint8Array): string | null {
  const transaction = fieldOf(update, TRANSACTION);
  if (transaction === null) return null;
  const info = fieldOf(transaction, 1);
  const signature = info === null ? null : fieldOf(info, 1);
  return signature === null ? null : Buffer.from(signature).toString('hex');
}

/** One stream of a payer's transactions, and when each came, by `performance.now()`. */
export class Arrivals {
  readonly at = new Map<string, number>();
  readonly #stream: GrpcStream;

  /** @param ready - called when the request is in force. */
  constructor(url: string, key: string, payer: Address, ready: () => void) {
    const options = { ...geyserLimits, url, headers: { 'x-token': key }, method: '/geyser.Geyser/Subscribe' };
    this.#stream = new GrpcStream(options, {
      opened: () => {},
      message: (bytes) => {
        const now = performance.now();
        const signature = signatureIn(bytes);
        if (signature !== null && !this.at.has(signature)) this.at.set(signature, now);
        // Field 9 is the answer to our ping, which went behind the request.
        if (fieldOf(bytes, 9) !== null) ready();
      },
      ended: ({ code, message }) => {
        throw new Error(`a stream ended: ${code} ${message}`);
      },
    });
    this.#stream.send(
      encodeSubscribeRequest({ transactions: new Map([['payer', { accountInclude: [payer] }]]) }),
    );
    this.#stream.send(encodeSubscribeRequest({ ping: 1 }));
  }

  close(): void {
    this.#stream.close();
  }
}

/** Opens a stream. @returns when its request is in force. */
export function openArrivals(url: string, key: string, payer: Address): Promise<Arrivals> {
  return new Promise((resolve) => {
    const arrivals: Arrivals = new Arrivals(url, key, payer, () => resolve(arrivals));
  });
}
