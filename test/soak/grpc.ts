import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { commitments } from '../../src/protocol/commitment.ts';
import { logTail, START_MS } from '../programs/localnet.ts';
import { logUnless, readOptions } from '../programs/options.ts';
import { Gauge } from '../programs/process-stats.ts';
import { startService } from '../service/start-service.ts';
import { noFindings, type ReaderFindings } from './geyser/findings.ts';
import { soakLedger } from './geyser/ledger-soak.ts';
import { type Drawing, RandomLedger } from './geyser/random-ledger.ts';
import { takeDownInTurn } from './outages.ts';

const USAGE = `Usage: npm run soak:grpc -- [options]

Runs the program in front of two Yellowstone servers of one generated ledger, with streams at all commitments that each
receive the updates of one owner and compare every slot with the generator, and one stream that does not read.
Kills one server after the other, and sometimes both, and measures the memory of the gateway.
Exits with 1 when an update was missed, duplicated or out of order, a stream ended, the stream that does not read was
not ended, or memory grew.

  --minutes N        duration (default 1)
  --kill-every N     seconds between kills; 0 disables them (default 30)
  --down N           seconds that a killed server is down (default 5)
  --per-second N     updates (default 5000), or transactions with --ledger (default 50)
  --streams N        streams, including the one that does not read (default 100)
  --slot-ms N        length of a slot (default 400)
  --ledger           use an embedded ledger behind two nodes instead of the generated one; every slot, transaction,
                     write and entry is compared with the ledger
  --freeze           with --ledger: freeze nodes (half-open connections) instead of killing them
  --json             print the result as JSON
`;

const options = readOptions(USAGE, {
  ...{ minutes: 1, 'kill-every': 30, down: 5, 'per-second': 0, streams: 100, 'slot-ms': 400 },
  ...{ ledger: false, freeze: false, json: false },
});
const { minutes, down, freeze, streams, 'slot-ms': slotMs, 'kill-every': killEvery } = options;
/** Default numbers of updates, and of transactions of an embedded ledger. */
const [GENERATED_PER_SECOND, LEDGER_PER_SECOND] = [5_000, 50];

const say = logUnless(options.json);

if (options.ledger) {
  const perSecond = options['per-second'] || LEDGER_PER_SECOND;
  const wrong = await soakLedger({ minutes, killEvery, down, freeze, perSecond, slotMs, say });
  if (options.json) process.stdout.write(`${JSON.stringify({ wrong, whole: wrong.length === 0 })}\n`);
  say(wrong.length === 0 ? 'No update was missed or duplicated.' : `FAULTS: ${wrong.length}`);
  process.exit(wrong.length === 0 ? 0 : 1);
}

const drawing: Drawing = {
  startedAt: Date.now() - 40 * slotMs,
  slotMs,
  updatesPerSlot: Math.round(((options['per-second'] || GENERATED_PER_SECOND) * slotMs) / 1_000),
  owners: streams - 1,
};
const ledger = new RandomLedger(drawing);
/** Slots that are stored for replay, and the time until memory has settled besides. */
const REPLAY_SLOTS = 60;
const SETTLED_MS = 15_000;
/** Later samples in relation to earlier ones, with noise. */
const GROWTH_MAX = 1.15;
/** Slots that streams may be behind at the end, beyond their commitment. */
const BEHIND_MAX = 10;
/** Queue of the stream that does not read. */
const QUEUE_MAX_BYTES = 4 * 1024 * 1024;
/** The effects of a kill are visible for some seconds. */
const LAST_KILL_BEFORE_END_MS = 10_000;

/** A server that restarts on its port. */
class Upstream {
  port = 0;
  #child: ChildProcess | null = null;

  async up(): Promise<void> {
    const script = join(import.meta.dirname, 'geyser', 'upstream.ts');
    this.#child = fork(script, [String(this.port), JSON.stringify(drawing)]);
    const [{ port }] = (await once(this.#child, 'message')) as [{ port: number }];
    this.port = port;
  }

  async down(): Promise<void> {
    const ended = once(this.#child!, 'exit');
    this.#child!.kill('SIGKILL');
    await ended;
  }
}

/** JSON-RPC of a node, which the gateway polls for its slot. */
async function startJsonRpc(): Promise<string> {
  const results: Readonly<Record<string, () => unknown>> = {
    getSlot: () => ledger.slotAt(Date.now()),
    getHealth: () => 'ok',
    getGenesisHash: () => '11111111111111111111111111111111',
  };
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse(await text(request)) as { id: unknown; method: string };
    const result = results[method]?.();
    const error = { code: -32601, message: 'Method not found' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const upstreams = [new Upstream(), new Upstream()];
await Promise.all(upstreams.map((upstream) => upstream.up()));
const rpcUrl = await startJsonRpc();
const service = await startService({
  timeoutMs: START_MS,
  configuration: `[grpc]\nqueue_max_bytes = ${QUEUE_MAX_BYTES}\n[replay]\nslots = ${REPLAY_SLOTS}\n`,
  arguments: upstreams.flatMap(({ port }, at) => [
    ...['--upstream', `${rpcUrl}?node=${at}`],
    ...['--ws', 'off', '--grpc', `http://127.0.0.1:${port}`],
  ]),
});
const grpcKey = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
const readers = fork(join(import.meta.dirname, 'geyser', 'readers.ts'), [
  ...[service.ready.grpcUrl, grpcKey, String(streams), JSON.stringify(drawing)],
]);
let found = noFindings;
readers.on('message', (findings: ReaderFindings) => {
  for (const fault of findings.faults.slice(found.faults.length)) say(`FAULT ${fault}`);
  found = findings;
});
const onExit = (): void => say('FAULT the readers ended');
readers.on('exit', onExit);

const gauge = new Gauge(service.process.pid!);

/** Whether the stream that does not read was ended with the size of its queue. */
function hasQueueSize(message: string): boolean {
  const [, bytes] = /lagged to send an update: \d+ messages, (\d+) bytes behind/.exec(message) ?? [];
  return Number(bytes) > QUEUE_MAX_BYTES;
}

const kills = await takeDownInTurn(upstreams, {
  ...{ minutes, every: killEvery, down, lastBeforeEndMs: LAST_KILL_BEFORE_END_MS },
  onDown: (which) =>
    say(
      `${which} down; ${found.messages} messages, ${found.slots} slots, ${gauge.memoryMib.at(-1) ?? 0} MiB`,
    ),
});
await sleep(2_000);
gauge.stop();
const { cpuShare, memoryMib } = gauge;
const growth = gauge.growth((REPLAY_SLOTS * slotMs + SETTLED_MS) / 1_000);
/** A short run ends before memory has settled. */
const isMemoryJudged = !Number.isNaN(growth);
const behind = commitments.map(
  (level, at) => (Date.now() - ledger.reachesAt(found.progress[at] ?? 0, level)) / slotMs,
);
const wrong = [
  ...(found.faultCount > 0 ? [`${found.faultCount} faults`] : []),
  ...(found.slots === 0 ? ['no stream received a complete slot'] : []),
  ...(Math.max(...behind) > BEHIND_MAX
    ? [`streams are ${behind.map(Math.round).join(', ')} slots behind`]
    : []),
  ...(found.lagged.length === 0 ? ['the stream that does not read was not ended'] : []),
  ...found.lagged.filter((one) => !hasQueueSize(one)).map((one) => `ended without its queue size: ${one}`),
  ...(isMemoryJudged && growth > GROWTH_MAX ? [`memory grew by ${growth.toFixed(3)}`] : []),
];
if (options.json) {
  const result = { minutes, kills, ...found, behind, growth, cpuShare, memoryMib, wrong };
  process.stdout.write(`${JSON.stringify(result)}\n`);
}
const { p50, p99, max } = found.lateness;
say(`${found.messages} messages in ${found.slots} slots of ${streams - 1} streams, ${kills} kills`);
say(`delay of slots: p50 ${p50} ms, p99 ${p99} ms, max ${max} ms`);
say(`the stream that does not read ended ${found.lagged.length} times: ${found.lagged[0] ?? 'never'}`);
say(`${gauge.summary}; second half to first: ${growth.toFixed(3)}`);
const memoryText = isMemoryJudged ? 'memory is flat' : 'memory was not judged: the run was too short';
say(wrong.length === 0 ? `No update was missed or duplicated, ${memoryText}.` : wrong.join('\n'));
if (wrong.length > 0) say(logTail(service));
readers.off('exit', onExit).disconnect();
await service.stop();
for (const upstream of upstreams) await upstream.down();
process.exit(wrong.length === 0 ? 0 : 1);
