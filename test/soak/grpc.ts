import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { logTail, runningNode, startLocalnet } from '../programs/localnet.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { type InFront, startInFront, takeDownInTurn } from '../programs/outages.ts';
import { Pace } from '../programs/pace.ts';
import { Gauge, percentile } from '../programs/process-stats.ts';
import { GeneratedLedger } from './grpc/generated-ledger.ts';
import { GeneratedReaders } from './grpc/generated-readers.ts';
import { compareWithLedger, LedgerListener, openListeners } from './grpc/ledger-listener.ts';
import { Traffic } from './traffic.ts';

const USAGE = `Usage: npm run soak:grpc -- [options]

Runs the program in front of two Yellowstone servers of one generated ledger, with streams at all commitments that each
receive the updates of one owner and compare every slot with the generator, and one stream that does not read.
Kills one server after the other, and sometimes both, and measures the memory of the gateway.
Exits with 1 when an update was missed, duplicated or out of order, a stream ended, the stream that does not read was
not ended, or memory grew.

  --minutes N        duration (default 1)
  --kill-every N     seconds between kills; 0 disables them (default 30)
  --down N           seconds that a killed server is down (default 5)
  --freeze           freeze servers (half-open connections) instead of killing them
  --per-second N     updates (default 5000), or transactions with --ledger (default 50)
  --streams N        streams, including the one that does not read (default 100)
  --slot-ms N        length of a slot (default 400)
  --ledger           use an embedded ledger behind two nodes instead of the generated one; every slot, transaction,
                     write and entry is compared with the ledger
  --rpc-port N       with --ledger: instead of the embedded ledger, use a node with a faucet that runs on this machine
  --grpc-port N      its Yellowstone gRPC port (default 10000)
  --second-rpc-port N   with --rpc-port: another node of the same cluster, to be used as the second node
  --second-grpc-port N  its Yellowstone gRPC port
  --json             print the result as JSON
`;

const options = readOptions(USAGE, {
  ...{ minutes: 1, 'kill-every': 30, down: 5, 'per-second': 0, streams: 100, 'slot-ms': 400 },
  ...{ ledger: false, freeze: false, json: false, 'rpc-port': 0, 'grpc-port': 10_000 },
  ...{ 'second-rpc-port': 0, 'second-grpc-port': 0 },
});
const {
  minutes,
  down,
  freeze,
  streams,
  'slot-ms': slotMs,
  'kill-every': every,
  'rpc-port': nodePort,
} = options;
const say = logUnless(options.json);

/** Default rates of generated updates, and of transactions with an embedded ledger. */
const [GENERATED_PER_SECOND, LEDGER_PER_SECOND] = [5_000, 50];
/** Slots stored for replay, and the additional time until memory has settled. */
const REPLAY_SLOTS = 60;
const SETTLED_MS = 15_000;
/** Maximum ratio of later to earlier memory samples, including noise. */
const GROWTH_MAX = 1.15;
/** Slots that streams may be behind their commitment at the end. */
const BEHIND_MAX = 10;
/** Queue limit of the stream that does not read. */
const QUEUE_MAX_BYTES = 4 * 1024 * 1024;
/** The effects of an outage are visible for some seconds. */
const LAST_BEFORE_END_MS = 10_000;
/** Time until all subscriptions are active. */
const SUBSCRIBED_MS = 3_000;
const IN_FLIGHT_MAX = 2_000;
const SHOWN_MAX = 20;

/** Results of the final check: faults, figures, and figures as text. */
type Checked = Readonly<{ wrong: readonly string[]; figures: object; texts: readonly string[] }>;

type Load = Readonly<{
  inFront: InFront;
  progress: () => string;
  check: (gauge: Gauge) => Promise<Checked>;
}>;

const streamOf = ({ service: { ready } }: InFront) => ({
  url: ready.grpcUrl,
  key: ready.keys.find(({ product }) => product === 'grpc')?.key ?? '',
});

/** Whether the status of the stream that does not read reports a queue above the limit. */
function hasQueueSize(message: string): boolean {
  const [, bytes] = /lagged to send an update: \d+ messages, (\d+) bytes behind/.exec(message) ?? [];
  return Number(bytes) > QUEUE_MAX_BYTES;
}

async function startGenerated(): Promise<Load> {
  const updatesPerSlot = Math.round(((options['per-second'] || GENERATED_PER_SECOND) * slotMs) / 1_000);
  const parameters = {
    startedAt: Date.now() - 40 * slotMs,
    ...{ slotMs, updatesPerSlot, owners: streams - 1 },
  };
  const ledger = new GeneratedLedger(parameters);
  const child = fork(join(import.meta.dirname, 'grpc', 'serve-ledger.ts'), [JSON.stringify(parameters)]);
  const [ports] = (await once(child, 'message')) as [{ rpcPort: number; grpcPort: number }];
  const configuration = `[grpc]\nqueue_max_bytes = ${QUEUE_MAX_BYTES}\n[replay]\nslots = ${REPLAY_SLOTS}\n`;
  const node = [ports.rpcPort, ports.grpcPort] as const;
  const inFront = await startInFront([node, node], 'grpc', configuration);
  const readers = new GeneratedReaders(ledger, streamOf(inFront), streams - 1);
  const check = async (gauge: Gauge): Promise<Checked> => {
    const { messages, slots, faults, faultCount, lagged } = readers;
    const behind = readers.behind(slotMs);
    const growth = gauge.growth((REPLAY_SLOTS * slotMs + SETTLED_MS) / 1_000);
    const sorted = readers.lateness.toSorted((a, b) => a - b);
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => percentile(sorted, share));
    const wrong = [
      ...faults,
      ...(faultCount > 0 ? [`${faultCount} faults`] : []),
      ...(slots === 0 ? ['no stream received a complete slot'] : []),
      ...(Math.max(...behind) > BEHIND_MAX ? [`streams are ${behind.map(Math.round)} slots behind`] : []),
      ...(lagged.length === 0 ? ['the stream that does not read was not ended'] : []),
      ...lagged.filter((one) => !hasQueueSize(one)).map((one) => `ended without its queue size: ${one}`),
      // NaN for a short run, which ends before memory has settled.
      ...(growth > GROWTH_MAX ? [`memory grew by ${growth.toFixed(3)}`] : []),
    ];
    const texts = [
      `${messages} messages in ${slots} slots of ${streams - 1} streams`,
      `delay of slots: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`,
      `the stream that does not read ended ${lagged.length} times: ${lagged[0] ?? 'never'}`,
      `memory, second half to first: ${Number.isNaN(growth) ? 'the run was too short' : growth.toFixed(3)}`,
    ];
    const lateness = { p50, p99, max };
    return { wrong, figures: { messages, slots, faultCount, lagged, lateness, behind, growth }, texts };
  };
  return { inFront, progress: () => `${readers.messages} messages, ${readers.slots} slots`, check };
}

async function startEmbedded(): Promise<Load> {
  const node = nodePort === 0 ? await startLocalnet(slotMs) : runningNode(nodePort, options['grpc-port']);
  const { request, rpcPort, grpcPort } = node;
  const second = [options['second-rpc-port'] || rpcPort, options['second-grpc-port'] || grpcPort] as const;
  const inFront = await startInFront([[rpcPort, grpcPort], second], 'grpc');
  const severalNodes = options['second-rpc-port'] !== 0;
  const truth = new LedgerListener('truth', { url: `http://127.0.0.1:${grpcPort}` }, 'processed', {
    severalNodes,
  });
  const listeners = openListeners(streamOf(inFront), severalNodes);
  const traffic = new Traffic(request);
  await traffic.fund();
  const act = (): Promise<void> =>
    traffic.send(async () => {}).catch((fault: unknown) => say(`a transaction was not sent: ${fault}`));
  const perSecond = options['per-second'] || LEDGER_PER_SECOND;
  const pace = new Pace({ perSecond, inFlightMax: IN_FLIGHT_MAX, act });
  const stopRefreshing = traffic.refreshRepeatedly();
  await sleep(SUBSCRIBED_MS);
  const begun = truth.order.at(-1)! + 1;
  const check = async (): Promise<Checked> => {
    await pace.stop();
    stopRefreshing();
    const { slots, faults } = await compareWithLedger(
      truth,
      listeners,
      [begun, truth.order.at(-1)!],
      request,
    );
    const count = (part: 'transactions' | 'writes'): number =>
      [...truth.slots.values()].reduce((sum, slot) => sum + slot[part].length, 0);
    const figures = { slots: slots.length, transactions: count('transactions'), writes: count('writes') };
    const texts = [
      `${slots.length} slots, ${figures.transactions} transactions, ${figures.writes} account writes`,
      ...[truth, ...listeners].map(({ name, received }) => `${name}: ${received} messages`),
    ];
    for (const listener of [truth, ...listeners]) listener.close();
    await node.stop();
    return { wrong: faults, figures, texts };
  };
  return { inFront, progress: () => `${truth.order.length} slots`, check };
}

const { inFront, progress, check } = await (options.ledger ? startEmbedded() : startGenerated());
const gauge = new Gauge(inFront.service.process.pid!);
const kills = await takeDownInTurn(inFront.nodes, {
  ...{ minutes, every, down, freeze, allEvery: 3 },
  lastBeforeEndMs: options.ledger ? down * 1_000 : LAST_BEFORE_END_MS,
  onDown: (which) =>
    say(`${which} ${freeze ? 'frozen' : 'killed'}; ${progress()}, ${gauge.memoryMib.at(-1) ?? 0} MiB`),
});
await sleep(2_000);
gauge.stop();
const { cpuShare, memoryMib } = gauge;
const { wrong, figures, texts } = await check(gauge);
const result = { minutes, kills, ...figures, cpuShare, memoryMib, wrong, whole: wrong.length === 0 };
if (options.json) process.stdout.write(`${JSON.stringify(result)}\n`);
for (const text of [`nodes went down ${kills} times`, ...texts, gauge.summary]) say(text);
for (const fault of wrong.slice(0, SHOWN_MAX)) say(`FAULT ${fault}`);
say(result.whole ? 'No update was missed or duplicated.' : logTail(inFront.service));
await inFront.stop();
process.exit(result.whole ? 0 : 1);
