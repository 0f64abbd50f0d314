import { type ClientHttp2Stream, connect } from 'node:http2';
import {
  type AccountsFilter,
  encodeSubscribeRequest,
  type SubscribeRequest,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { encodeFrame, FRAME_HEADER_BYTES } from '../../src/protocol/grpc/frames.ts';
import { addressFromBytes } from '../../src/solana/address.ts';
import {
  ACCOUNT_DATA_BYTES,
  addressAt,
  type Crowd,
  filterOf,
  isSpread,
  ownerBytes,
  type SinkMessage,
  type SinkOrder,
  type SpreadLoad,
  WALLET_AT,
} from './messages.ts';

/** Clients: HTTP/2 streams that subscribe and count messages. */

/** Pings are shorter and not counted. */
const UPDATE_BYTES_MIN = 60;
const WINDOW_BYTES = 16 * 1024 * 1024;
let received = 0;
let expected = Number.POSITIVE_INFINITY;

const done = (): void => void process.send?.({ done: true } satisfies SinkMessage);

function count(messages: number): void {
  received += messages;
  if (received < expected) return;
  if (received > expected) throw new Error(`${received - expected} messages more than were expected`);
  received = 0;
  expected = Number.POSITIVE_INFINITY;
  done();
}

/** Counts messages by their headers, across chunk boundaries. */
function counter(): (piece: Buffer) => void {
  let remaining = 0;
  let head = Buffer.alloc(0);
  return (piece) => {
    let at = 0;
    let messages = 0;
    while (at < piece.length) {
      if (remaining > 0) {
        const step = Math.min(remaining, piece.length - at);
        remaining -= step;
        at += step;
        continue;
      }
      const needed = FRAME_HEADER_BYTES - head.length;
      head = Buffer.concat([head, piece.subarray(at, at + needed)]);
      at += needed;
      if (head.length < FRAME_HEADER_BYTES) break;
      remaining = head.readUInt32BE(1);
      if (remaining >= UPDATE_BYTES_MIN) messages++;
      head = Buffer.alloc(0);
    }
    if (messages > 0) count(messages);
  };
}

function spreadFilter(load: SpreadLoad, number: number): AccountsFilter {
  const bytes = addressAt(number);
  if (load === 'spread') return { account: [addressFromBytes(bytes)] };
  const memcmp = { kind: 'memcmp', offset: BigInt(WALLET_AT), bytes } as const;
  if (load === 'spread by memcmp') return { filters: [memcmp] };
  const dataSize = { kind: 'dataSize', bytes: BigInt(ACCOUNT_DATA_BYTES) } as const;
  return { owner: [addressFromBytes(ownerBytes)], filters: [memcmp, dataSize] };
}

function requestOf(stream: number, { load, filtersEach }: Omit<Crowd, 'streams'>): SubscribeRequest {
  const name = filterOf(stream);
  if (load === 'blocks') return { transactions: new Map([[name, {}]]) };
  if (!isSpread(load)) {
    return { accounts: new Map([[name, { account: [addressFromBytes(new Uint8Array(32).fill(7))] }]]) };
  }
  const own = Array.from({ length: filtersEach }, (_, nth) => stream * filtersEach + nth);
  return {
    accounts: new Map(own.map((number) => [`${name}-${number}`, spreadFilter(load, number)])),
  };
}

function open(port: number, token: string, request: SubscribeRequest): Promise<void> {
  return new Promise((resolve, reject) => {
    const session = connect(`http://127.0.0.1:${port}`, { settings: { initialWindowSize: WINDOW_BYTES } });
    session.once('connect', () => session.setLocalWindowSize(WINDOW_BYTES));
    session.on('error', reject);
    const stream: ClientHttp2Stream = session.request({
      ':method': 'POST',
      ':path': '/geyser.Geyser/Subscribe',
      'content-type': 'application/grpc',
      'x-token': token,
      te: 'trailers',
    });
    stream.on('data', counter());
    stream.on('trailers', (trailers) => reject(new Error(JSON.stringify(trailers))));
    // The response to a ping confirms the request before it.
    stream.once('response', () => {
      stream.write(encodeFrame(encodeSubscribeRequest(request)));
      stream.write(encodeFrame(encodeSubscribeRequest({ ping: 1 })));
      stream.once('data', () => resolve());
    });
  });
}

async function openAll({
  port,
  token,
  streams,
  ...crowd
}: Extract<SinkOrder, { connect: unknown }>['connect']) {
  for (let stream = 0; stream < streams; stream++) await open(port, token, requestOf(stream, crowd));
  // Waits until the server has read the last request.
  await new Promise((resolve) => setTimeout(resolve, 300));
}

process.on('message', (order: SinkOrder) => {
  if ('connect' in order) void openAll(order.connect).then(done);
  else {
    expected = order.expect;
    count(0);
  }
});
process.on('SIGTERM', () => process.exit());
