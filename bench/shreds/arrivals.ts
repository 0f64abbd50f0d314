import { type ClientHttp2Session, connect } from 'node:http2';
import { ProtobufReader } from '../../src/protocol/geyser/protobuf.ts';
import { encodeSubscribeRequest } from '../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame, GrpcFrames } from '../../src/protocol/grpc/frames.ts';
import type { Address } from '../../src/solana/address.ts';

const TRANSACTION = 4;
const PONG = 9;
const MESSAGE_MAX_BYTES = 16 * 1024 * 1024;
const SIZES = {
  messageMaxBytes: MESSAGE_MAX_BYTES,
  decompressionRatioMax: 1,
  ratioExemptBytes: MESSAGE_MAX_BYTES,
};

/** First field with the number; null if absent. */
function fieldOf(bytes: Uint8Array, number: number): Uint8Array | null {
  const reader = new ProtobufReader(bytes);
  while (reader.next()) {
    if (reader.field === number) return reader.bytes();
    reader.skipField();
  }
  return null;
}

/** Signature of a transaction update in hex; null for other updates. */
function signatureIn(update: Uint8Array): string | null {
  const transaction = fieldOf(update, TRANSACTION);
  const info = transaction === null ? null : fieldOf(transaction, 1);
  const signature = info === null ? null : fieldOf(info, 1);
  return signature === null ? null : Buffer.from(signature).toString('hex');
}

/** Arrival of each transaction on a stream: time and position among all messages. */
export type Arrivals = Map<string, Readonly<{ at: number; nth: number }>>;

/**
 * Streams of a payer's transactions over one connection, so that the order of arrival is the order of sending, even
 * if the client reads late.
 */
export class ArrivalOrder {
  readonly #session: ClientHttp2Session;
  #received = 0;

  constructor(url: string) {
    this.#session = connect(url);
    // Streams report the error too.
    this.#session.on('error', () => {});
  }

  /** Opens a stream. @returns its arrivals, once the request is confirmed. */
  open(key: string, payer: Address): Promise<Arrivals> {
    const received: Arrivals = new Map();
    const frames = new GrpcFrames(SIZES);
    const stream = this.#session.request({
      ':method': 'POST',
      ':path': '/geyser.Geyser/Subscribe',
      'content-type': 'application/grpc',
      'x-token': key,
      te: 'trailers',
    });
    const request = encodeSubscribeRequest({
      transactions: new Map([['payer', { accountInclude: [payer] }]]),
    });
    stream.write(encodeFrame(request));
    // The response to a ping confirms the request before it.
    stream.write(encodeFrame(encodeSubscribeRequest({ ping: 1 })));
    return new Promise((resolve, reject) => {
      stream.on('trailers', (trailers) => reject(new Error(JSON.stringify(trailers))));
      stream.on('error', reject);
      stream.on('data', (piece: Buffer) => {
        frames.push(piece);
        for (let message = frames.next(); message !== null; message = frames.next()) {
          const signature = signatureIn(message);
          if (signature !== null && !received.has(signature)) {
            received.set(signature, { at: performance.now(), nth: this.#received++ });
          }
          if (fieldOf(message, PONG) !== null) resolve(received);
        }
      });
    });
  }

  close(): void {
    this.#session.destroy();
  }
}
