import { createLogger } from '../../src/base/log.ts';
import { GrpcServer } from '../../src/servers/grpc/server.ts';
import type { GeyserDoor } from '../../src/streams/geyser/geyser-door.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';
import { openGate } from './gate.ts';
import { AHEAD_BYTES, type Load, type ServerOrder, type ServerWord } from './messages.ts';
import { updatesOf } from './updates.ts';

/** The gateway's gRPC door with keys, hub, filters and queues, fed on order. */

const MANY = 1_000_000_000;
const load = process.argv[2] as Load;
const updates = updatesOf(load, Number(process.argv[3]));
const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
// What is told is not held: the slot that it is of never ends.
const hub = new GeyserHub({ replaySlots: 0 });
const { gate, secret } = openGate(hub, log);
const sinks: GeyserSink[] = [];
const door: GeyserDoor = {
  open: (caller, rpc, sink, onEnd) => {
    sinks.push(sink);
    return gate.open(caller, rpc, sink, onEnd);
  },
  admit: (caller, rpc) => gate.admit(caller, rpc),
  unary: (caller, rpc, request) => gate.unary(caller, rpc, request),
};

const isAhead = ({ waitingBytes = 0 }: GeyserSink): boolean => waitingBytes > AHEAD_BYTES;

/** Tells in turns, each when no stream has too much before it. */
function tell(total: number, perTurn: number): void {
  let told = 0;
  const turn = (): void => {
    if (!sinks.some(isAhead)) {
      for (let i = 0; i < perTurn && told < total; i++, told++) hub.tell(updates[told % updates.length]!);
    }
    if (told < total) setImmediate(turn);
    else say({ told: true });
  };
  turn();
}

const say = (word: ServerWord): void => void process.send?.(word);
const server = new GrpcServer(
  { door, health: () => true, log },
  { queueMaxBytes: MANY, queueMaxMessages: MANY, queuesMaxBytes: MANY },
);
process.on('message', (order: ServerOrder) => {
  tell(order.tell, order.perTurn);
});
process.on('SIGTERM', () => process.exit());
const { port } = await server.listen();
say({ listening: { port, token: secret } });
