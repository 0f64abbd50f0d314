import { createLogger } from '../../src/base/log.ts';
import { addressFromBytes } from '../../src/ledger/address.ts';
import { GrpcServer } from '../../src/servers/grpc/server.ts';
import { Channel } from '../../src/streams/geyser/channel.ts';
import { compileFilters } from '../../src/streams/geyser/filters/compile.ts';
import type { GeyserDoor } from '../../src/streams/geyser/geyser-door.ts';
import { GeyserHub } from '../../src/streams/geyser/geyser-hub.ts';
import type { GeyserSink } from '../../src/streams/geyser/geyser-sink.ts';
import { openGate } from './gate.ts';
import { AHEAD_BYTES, type Load, type ServerOrder, type ServerWord } from './messages.ts';
import { accountWrite, updatesOf } from './updates.ts';

/** The gateway's gRPC door with keys, hub, filters and queues, fed on order. */

const MANY = 1_000_000_000;
const load = process.argv[2] as Load;
const updates = updatesOf(load);
const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
// What is told is not held: the slot that it is of never ends.
const hub = new GeyserHub({ replaySlots: 0 });
const { gate, secret } = openGate(hub, log);
const sinks: GeyserSink[] = [];
const door: GeyserDoor = {
  open: (credential, rpc, sink, onEnd) => {
    sinks.push(sink);
    return gate.open(credential, rpc, sink, onEnd);
  },
  unary: (credential, rpc, request) => gate.unary(credential, rpc, request),
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

function addressOf(filter: number): Uint8Array {
  const bytes = new Uint8Array(32).fill(11);
  new DataView(bytes.buffer).setUint32(0, filter);
  return bytes;
}

/** One stream each with a filter of one account; every event matches one of them. */
function match(filters: number, events: number): number {
  const channel = new Channel();
  let pushed = 0;
  const sink: GeyserSink = { push: () => void pushed++, end: () => {} };
  for (let filter = 0; filter < filters; filter++) {
    const account = [addressFromBytes(addressOf(filter))];
    channel.add(sink).replace(compileFilters({ accounts: new Map([['a', { account }]]) }));
  }
  const write = accountWrite(7, 1);
  const writes = Array.from({ length: Math.min(filters, 1_000) }, (_, nth) => ({
    ...write,
    address: addressOf((nth * 7) % filters),
  }));
  const run = (count: number): number => {
    const begun = process.cpuUsage();
    for (let event = 0; event < count; event++) channel.tell(writes[event % writes.length]!);
    const { user, system } = process.cpuUsage(begun);
    return ((user + system) * 1_000) / count;
  };
  run(events / 4);
  pushed = 0;
  const nanoseconds = run(events);
  if (pushed !== events) throw new Error(`${pushed} matches of ${events} events`);
  return nanoseconds;
}

const say = (word: ServerWord): void => void process.send?.(word);
const server = new GrpcServer(
  { door, health: () => true, log },
  { queueMaxBytes: MANY, queueMaxMessages: MANY, queuesMaxBytes: MANY },
);
process.on('message', (order: ServerOrder) => {
  if ('tell' in order) tell(order.tell, order.perTurn);
  else say({ nanoseconds: match(order.match, order.events) });
});
process.on('SIGTERM', () => process.exit());
const { port } = await server.listen();
say({ listening: { port, token: secret } });
