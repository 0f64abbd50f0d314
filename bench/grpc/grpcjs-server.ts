import { Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { encodeNames } from '../../src/protocol/geyser/encode/envelope.ts';
import { AHEAD_BYTES, type Load, type ServerMessage, type ServerOrder } from './messages.ts';
import { updatesOf } from './updates.ts';

/** The usual way: a server of @grpc/grpc-js, given messages that were serialised beforehand for each stream. */

type Call = ServerDuplexStream<Buffer, Buffer>;
type Stream = Readonly<{ call: Call; messages: readonly Buffer[] }>;

const load = process.argv[2] as Load;
const updates = updatesOf(load, 0);
const streams: Stream[] = [];
const identity = (bytes: Buffer): Buffer => bytes;

/** The name of the one filter: what a client of the bench sends is short and known. */
function nameIn(request: Buffer): string | null {
  return /stream-\d{3}/.exec(request.toString('latin1'))?.[0] ?? null;
}

function subscribe(call: Call): void {
  call.sendMetadata(new Metadata());
  call.on('data', (request: Buffer) => {
    const name = nameIn(request);
    if (name === null) {
      call.write(Buffer.of(0x4a, 0x02, 0x08, 0x01));
      return;
    }
    const names = encodeNames([name]);
    streams.push({ call, messages: updates.map(({ tail }) => Buffer.concat([names, tail])) });
  });
  call.on('error', () => {});
  call.on('close', () => streams.splice(0));
}

const isAhead = ({ call }: Stream): boolean => call.writableLength * 1_024 > AHEAD_BYTES;

/** Tells in turns, each when no stream has too much before it. */
function emit(total: number, perTurn: number): void {
  let emitted = 0;
  const tick = (): void => {
    if (!streams.some(isAhead)) {
      for (let i = 0; i < perTurn && emitted < total; i++, emitted++) {
        for (const { call, messages } of streams) call.write(messages[emitted % messages.length] as Buffer);
      }
    }
    if (emitted < total) setImmediate(tick);
    else sendMessage({ emitted: true });
  };
  tick();
}

const sendMessage = (message: ServerMessage): void => void process.send?.(message);
const server = new Server({ 'grpc.max_send_message_length': -1 });
server.addService(
  {
    subscribe: {
      path: '/geyser.Geyser/Subscribe',
      requestStream: true,
      responseStream: true,
      requestSerialize: identity,
      requestDeserialize: identity,
      responseSerialize: identity,
      responseDeserialize: identity,
    },
  },
  { subscribe },
);
process.on('message', (order: ServerOrder) => {
  emit(order.emit, order.perTurn);
});
process.on('SIGTERM', () => process.exit());
server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => {
  if (error !== null) throw error;
  sendMessage({ listening: { port, token: 'none' } });
});
