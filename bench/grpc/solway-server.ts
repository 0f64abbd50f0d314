import { createLogger } from '../../src/base/log.ts';
import { GrpcServer } from '../../src/servers/grpc/server.ts';
import type { GeyserHandler } from '../../src/streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';
import { openGate } from './gate.ts';
import { AHEAD_BYTES, type Load, type ServerMessage, type ServerOrder } from './messages.ts';
import { emitInTurns, updatesOf } from './updates.ts';

/** The gRPC server with keys, hub, filters and queues. */

const MANY = 1_000_000_000;
const load = process.argv[2] as Load;
const updates = updatesOf(load, Number(process.argv[3]));
const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
// No replay buffer, because the slot never ends.
const hub = new GeyserHub({ replaySlots: 0 });
const { gate, secret } = openGate(hub, log);
const sinks: GeyserSink[] = [];
const handler: GeyserHandler = {
  open: (caller, rpc, sink, onEnd) => {
    sinks.push(sink);
    return gate.open(caller, rpc, sink, onEnd);
  },
  admit: (caller, rpc) => gate.admit(caller, rpc),
  unary: (caller, rpc, request) => gate.unary(caller, rpc, request),
};

const isAhead = ({ waitingBytes = 0 }: GeyserSink): boolean => waitingBytes > AHEAD_BYTES;

const emit = (total: number, perTurn: number): void =>
  emitInTurns({
    ...{ total, perTurn },
    isAhead: () => sinks.some(isAhead),
    emitOne: (nth) => hub.onUpdate(updates[nth % updates.length]!),
    onEnd: () => sendMessage({ emitted: true }),
  });

const sendMessage = (message: ServerMessage): void => void process.send?.(message);
const server = new GrpcServer(
  { handler, health: () => true, log },
  { queueMaxBytes: MANY, queueMaxMessages: MANY, queuesMaxBytes: MANY },
);
process.on('message', (order: ServerOrder) => {
  emit(order.emit, order.perTurn);
});
process.on('SIGTERM', () => process.exit());
const { port } = await server.listen();
sendMessage({ listening: { port, token: secret } });
