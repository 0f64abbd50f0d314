import { Metadata, Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { encodeNames } from '../../src/protocol/geyser/encode/envelope.ts';
import { AHEAD_BYTES, type Load, type ServerMessage, type ServerOrder } from './messages.ts';
import { emitInTurns, updatesOf } from './updates.ts';

/** Baseline: @grpc/grpc-js with messages encoded in advance for each stream. */

type Call = ServerDuplexStream<Buffer, Buffer>;
type Stream = Readonly<{ call: Call; messages: readonly Buffer[] }>;

const load = process.argv[2] as Load;
const updates = updatesOf(load, 0);
const streams: Stream[] = [];
const identity = (bytes: Buffer): Buffer => bytes;

/** Name of the only filter in a request of the bench. */
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

const emit = (total: number, perTurn: number): void =>
  emitInTurns({
    ...{ total, perTurn },
    isAhead: () => streams.some(isAhead),
    emitOne: (nth) => {
      for (const { call, messages } of streams) call.write(messages[nth % messages.length] as Buffer);
    },
    onEnd: () => sendMessage({ emitted: true }),
  });

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
