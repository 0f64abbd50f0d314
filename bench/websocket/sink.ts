import { connect, type Socket } from 'node:net';
import { addressOf, type SinkMessage, type SinkOrder } from './messages.ts';

/** Clients: sockets that shake hands, subscribe to one account each and count bytes. */

/** Concurrent handshakes. */
const AT_ONCE = 100;
/** Shared read buffer, because bytes are only counted. */
const buffer = Buffer.allocUnsafe(256 * 1024);
const sockets = new Set<Socket>();
let received = 0;
let expected = Number.POSITIVE_INFINITY;

const done = (): void => void process.send?.({ done: true } satisfies SinkMessage);

function count(bytes: number): void {
  received += bytes;
  if (received < expected) return;
  if (received > expected) throw new Error(`${received - expected} bytes more than were expected`);
  received = 0;
  expected = Number.POSITIVE_INFINITY;
  done();
}

/** A masked text frame; the mask is zero. */
function frame(text: string): Buffer {
  const body = Buffer.from(text);
  if (body.length > 125) throw new Error('too long for a frame of this kind');
  return Buffer.concat([Buffer.of(0x81, 0x80 | body.length, 0, 0, 0, 0), body]);
}

const subscribe = (account: number): Buffer =>
  frame(`{"jsonrpc":"2.0","id":1,"method":"accountSubscribe","params":["${addressOf(account)}"]}`);

const handshake = (path: string): string =>
  [
    `GET ${path} HTTP/1.1`,
    'Host: bench',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    '',
    '',
  ].join('\r\n');

const ACKNOWLEDGED = /\{"jsonrpc":"2.0","result":1,"id":1\}$/;

/** Resolves when the subscription is acknowledged. */
function open(port: number, path: string, account: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let text = '';
    let take = (piece: string): void => {
      text += piece;
      if (!text.includes('\r\n\r\n')) return;
      if (!text.startsWith('HTTP/1.1 101')) throw new Error(text);
      socket.write(subscribe(account));
      text = '';
      take = (response) => {
        text += response;
        if (!ACKNOWLEDGED.test(text)) return;
        isOpen = true;
        resolve();
      };
    };
    let isOpen = false;
    const callback = (bytes: number): boolean => {
      if (isOpen) count(bytes);
      else take(buffer.toString('latin1', 0, bytes));
      return true;
    };
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer, callback } });
    socket.once('connect', () => socket.write(handshake(path)));
    socket.on('error', reject);
    sockets.add(socket);
  });
}

async function openAll({
  port,
  path,
  connections,
  accounts,
}: Extract<SinkOrder, { connect: unknown }>['connect']) {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < connections) await open(port, path, next++ % accounts);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

async function disconnect(): Promise<void> {
  await Promise.all(
    [...sockets].map(
      (socket) =>
        new Promise((resolve) => {
          socket.once('close', resolve);
          socket.resetAndDestroy();
        }),
    ),
  );
  sockets.clear();
}

process.on('message', (order: SinkOrder) => {
  if ('connect' in order) void openAll(order.connect).then(done);
  else if ('disconnect' in order) void disconnect().then(done);
  else {
    expected = order.expect;
    count(0);
  }
});
process.on('SIGTERM', () => process.exit());
