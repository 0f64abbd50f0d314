import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { commitments } from '../../src/protocol/commitment.ts';
import { startService } from '../service/start-service.ts';
import { noFindings, type ReaderFindings } from './geyser/findings.ts';
import { Gauge, sparkline } from './geyser/gauge.ts';
import { soakLedger } from './geyser/ledger-soak.ts';
import { type Drawing, RandomLedger } from './geyser/random-ledger.ts';

const USAGE = `Usage: npm run soak:grpc -- [options]

Runs the real program in front of two Yellowstone servers of one ledger that is drawn by a rule, with streams at all
commitments that each hear of one owner and hold every slot against the rule, and one stream that reads nothing.
Kills one server after the other, now and then both, and watches the memory of the gateway.
Ends with 1 when an update was missed, doubled or out of place, a reader ended, the one that reads nothing did not,
or memory grew.

  --minutes N        how long (default 1)
  --kill-every N     seconds from one kill to the next; 0 kills none (default 30)
  --down N           seconds that a killed server stays away (default 5)
  --per-second N     updates (default 5000), or transactions with --ledger (default 50)
  --streams N        streams, the one that reads nothing included (default 100)
  --slot-ms N        length of a slot (default 400)
  --ledger           an embedded ledger behind two ways in place of the drawn one; every slot, transaction, write
                     and entry is compared with what the ledger tells itself
  --freeze           with --ledger: freeze ways (half-open connections) instead of cutting them
  --json             print the result as JSON
`;

/** Updates, and transactions of an embedded ledger. */
const DRAWN_PER_SECOND = 5_000;
const LEDGER_PER_SECOND = 50;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    'kill-every': { type: 'string', default: '30' },
    down: { type: 'string', default: '5' },
    'per-second': { type: 'string' },
    streams: { type: 'string', default: '100' },
    'slot-ms': { type: 'string', default: '400' },
    ledger: { type: 'boolean', default: false },
    freeze: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${new Date().toISOString()} ${text}\n`);
};

const slotMs = Number(values['slot-ms']);
if (values.ledger) {
  const wrong = await soakLedger({
    minutes: Number(values.minutes),
    killEvery: Number(values['kill-every']),
    down: Number(values.down),
    freeze: values.freeze,
    perSecond: Number(values['per-second'] ?? LEDGER_PER_SECOND),
    slotMs,
    say,
  });
  if (values.json) process.stdout.write(`${JSON.stringify({ wrong, whole: wrong.length === 0 })}\n`);
  say(wrong.length === 0 ? 'Nothing was missed, nothing came twice.' : `FAULTS: ${wrong.length}`);
  process.exit(wrong.length === 0 ? 0 : 1);
}

const streams = Number(values.streams);
const drawing: Drawing = {
  startedAt: Date.now() - 40 * slotMs,
  slotMs,
  updatesPerSlot: Math.round((Number(values['per-second'] ?? DRAWN_PER_SECOND) * slotMs) / 1_000),
  owners: streams - 1,
};
const ledger = new RandomLedger(drawing);
/** Each so many kills both servers are away at once. */
const BOTH_EACH = 3;
/** Slots that are held for replays, and some seconds besides, until memory should have found its size. */
const REPLAY_SLOTS = 60;
const SETTLED_MS = 15_000;
/** What the later samples may lie above the earlier ones, of their own noise. */
const GROWTH_MAX = 1.15;
/** Slots that readers may be behind in the end, besides those that their commitment is. */
const BEHIND_MAX = 10;
/** What the one that reads nothing may be behind. */
const QUEUE_MAX_BYTES = 4 * 1024 * 1024;

/** One of the servers, which comes back on its port. */
class Upstream {
  port = 0;
  #child: ChildProcess | null = null;

  async start(): Promise<void> {
    const script = join(import.meta.dirname, 'geyser', 'upstream.ts');
    const child = fork(script, [String(this.port), JSON.stringify(drawing)]);
    this.#child = child;
    const [{ port }] = (await once(child, 'message')) as [{ port: number }];
    this.port = port;
  }

  async kill(): Promise<void> {
    const child = this.#child!;
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

/** Answers what the gateway asks of a node beside its streams: where the chain is. */
async function startJsonRpc(): Promise<string> {
  const answers: Readonly<Record<string, () => unknown>> = {
    getSlot: () => ledger.slotAt(Date.now()),
    getHealth: () => 'ok',
    getGenesisHash: () => '11111111111111111111111111111111',
  };
  const server = createServer(async (request, response) => {
    const { id, method } = JSON.parse(await text(request)) as { id: unknown; method: string };
    const result = answers[method]?.();
    const error = { code: -32601, message: 'Method not found' };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...(result === undefined ? { error } : { result }) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const upstreams = [new Upstream(), new Upstream()];
await Promise.all(upstreams.map((upstream) => upstream.start()));
const rpcUrl = await startJsonRpc();
const service = await startService({
  configuration: `[grpc]\nqueue_max_bytes = ${QUEUE_MAX_BYTES}\n[replay]\nslots = ${REPLAY_SLOTS}\n`,
  arguments: upstreams.flatMap(({ port }, at) => [
    ...['--upstream', `${rpcUrl}?node=${at}`],
    ...['--ws', 'off', '--grpc', `http://127.0.0.1:${port}`],
  ]),
});
const grpcKey = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
const { grpcUrl } = service.ready;
const readers = fork(join(import.meta.dirname, 'geyser', 'readers.ts'), [
  grpcUrl,
  grpcKey,
  values.streams,
  JSON.stringify(drawing),
]);
let found = noFindings;
readers.on('message', (word: ReaderFindings) => {
  for (const text of word.faults.slice(found.faults.length)) say(`FAULT ${text}`);
  found = word;
});
const onExit = (): void => say('FAULT the readers ended');
readers.on('exit', onExit);

const endAt = performance.now() + Number(values.minutes) * 60_000;
const gauge = new Gauge(service.process.pid!);
let kills = 0;

async function away(which: readonly Upstream[]): Promise<void> {
  await Promise.all(which.map((upstream) => upstream.kill()));
  await sleep(Number(values.down) * 1_000);
  await Promise.all(which.map((upstream) => upstream.start()));
}

async function unrest(): Promise<void> {
  const every = Number(values['kill-every']) * 1_000;
  if (every === 0) return sleep(endAt - performance.now());
  for (let next = performance.now() + every, turn = 0; ; next += every, turn++) {
    await sleep(Math.max(0, Math.min(next, endAt) - performance.now()));
    // What the last kill did shows for some seconds.
    if (endAt - performance.now() < 10_000) break;
    kills++;
    const both = turn % BOTH_EACH === BOTH_EACH - 1;
    say(
      `${both ? 'both servers die' : `server ${(turn % 2) + 1} dies`}; ${found.messages} messages, ${found.slots} slots of streams, ${gauge.memoryMib.at(-1) ?? 0} MiB`,
    );
    await away(both ? upstreams : [upstreams[turn % 2]!]);
  }
  await sleep(Math.max(0, endAt - performance.now()));
}

/** What the one that reads nothing was told, where it is more than a queue may hold. */
function lagStated(text: string): boolean {
  const [, bytes] = /lagged to send an update: \d+ messages, (\d+) bytes behind/.exec(text) ?? [];
  return Number(bytes) > QUEUE_MAX_BYTES;
}

await unrest();
await sleep(2_000);
gauge.stop();
const { cpuShare, memoryMib } = gauge;
const growth = gauge.growth((REPLAY_SLOTS * slotMs + SETTLED_MS) / 1_000);
/** A short run ends before memory has found its size. */
const isWatched = !Number.isNaN(growth);
const behind = commitments.map(
  (level, at) => (Date.now() - ledger.reachesAt(found.progress[at] ?? 0, level)) / slotMs,
);
const wrong = [
  ...(found.faultCount > 0 ? [`${found.faultCount} faults`] : []),
  ...(found.slots === 0 ? ['nobody heard a whole slot'] : []),
  ...(Math.max(...behind) > BEHIND_MAX
    ? [`readers are ${behind.map(Math.round).join(', ')} slots behind`]
    : []),
  ...(found.lagged.length === 0 ? ['the stream that reads nothing was not cut'] : []),
  ...found.lagged.filter((text) => !lagStated(text)).map((text) => `it was cut without its lag: ${text}`),
  ...(isWatched && growth > GROWTH_MAX ? [`memory grew by ${growth.toFixed(3)}`] : []),
];
const result = {
  minutes: Number(values.minutes),
  kills,
  ...found,
  behind,
  growth,
  cpuShare,
  memoryMib,
  wrong,
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
const { p50, p99, max } = found.lateness;
say(`${found.messages} messages in ${found.slots} slots of ${streams - 1} streams, ${kills} kills`);
say(`a slot was known ${p50} ms (median), ${p99} ms (99 %), ${max} ms (longest) after its time`);
say(`the stream that reads nothing ended ${found.lagged.length} times: ${found.lagged[0] ?? 'never'}`);
say(
  `memory of the gateway ${sparkline(memoryMib)} ${Math.min(...memoryMib)} to ${Math.max(...memoryMib)} MiB; second half to first: ${growth.toFixed(3)}`,
);
say(`it took ${(cpuShare * 100).toFixed(0)} % of a core`);
const memoryWords = isWatched ? 'memory is flat' : 'memory was not judged: the run was too short';
say(wrong.length === 0 ? `Nothing was missed, nothing came twice, ${memoryWords}.` : wrong.join('\n'));
if (wrong.length > 0)
  say(
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":'))
      .slice(-30)
      .join('\n'),
  );
readers.off('exit', onExit).disconnect();
await service.stop();
for (const upstream of upstreams) await upstream.kill();
process.exit(wrong.length === 0 ? 0 : 1);
