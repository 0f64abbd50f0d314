import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { startService } from '../service/start-service.ts';
import { type Drawing, DrawnLedger } from './geyser/drawn-ledger.ts';
import type { Found } from './geyser/readers.ts';

const USAGE = `Usage: npm run soak:grpc -- [options]

Runs the real program in front of two Yellowstone servers of one ledger that is drawn by a rule, with streams at all
commitments that each hear of one owner and hold every slot against the rule, and one stream that reads nothing.
Kills one server after the other, now and then both, and watches the memory of the gateway.
Ends with 1 when an update was missed, doubled or out of place, a reader ended, the one that reads nothing did not,
or memory grew.

  --minutes N        how long (default 1)
  --kill-every N     seconds from one kill to the next; 0 kills none (default 30)
  --down N           seconds that a killed server stays away (default 5)
  --per-second N     updates (default 5000)
  --streams N        streams, the one that reads nothing included (default 100)
  --slot-ms N        length of a slot (default 400)
  --json             print the result as JSON
`;

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '1' },
    'kill-every': { type: 'string', default: '30' },
    down: { type: 'string', default: '5' },
    'per-second': { type: 'string', default: '5000' },
    streams: { type: 'string', default: '100' },
    'slot-ms': { type: 'string', default: '400' },
    json: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const slotMs = Number(values['slot-ms']);
const streams = Number(values.streams);
const drawing: Drawing = {
  begunAt: Date.now() - 40 * slotMs,
  slotMs,
  updatesPerSlot: Math.round((Number(values['per-second']) * slotMs) / 1_000),
  owners: streams - 1,
};
const ledger = new DrawnLedger(drawing);
/** Each so many kills both servers are away at once. */
const BOTH_EACH = 3;
/** The part of the run after which memory should have found its size. */
const SETTLED_SHARE = 0.4;
/** What the later samples may lie above the earlier ones, of their own noise. */
const GROWTH_MAX = 1.15;
const SAMPLE_MS = 1_000;

const say = (text: string): void => {
  if (!values.json) process.stdout.write(`${new Date().toISOString()} ${text}\n`);
};

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

function residentMib(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024;
}

const median = (numbers: readonly number[]): number =>
  numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;

/** A line of bars, the lowest to the highest. */
function sparkline(numbers: readonly number[], width = 60): string {
  const step = Math.max(1, Math.ceil(numbers.length / width));
  const means = Array.from({ length: Math.ceil(numbers.length / step) }, (_, at) =>
    median(numbers.slice(at * step, (at + 1) * step)),
  );
  const top = Math.max(...means, 1);
  return means.map((value) => '▁▂▃▄▅▆▇█'[Math.min(7, Math.floor((value / top) * 8))]).join('');
}

const upstreams = [new Upstream(), new Upstream()];
await Promise.all(upstreams.map((upstream) => upstream.start()));
const rpcUrl = await startJsonRpc();
const service = await startService({
  configuration: '[geyser_source]\n',
  arguments: upstreams.flatMap(({ port }, at) => [
    ...['--upstream', `${rpcUrl}?node=${at}`],
    ...['--ws', 'off', '--grpc', `http://127.0.0.1:${port}`],
  ]),
});
const grpcKey = service.ready.keys.find(({ product }) => product === 'grpc')?.key ?? '';
const { grpcUrl } = service.ready as unknown as { grpcUrl: string };
const readers = fork(join(import.meta.dirname, 'geyser', 'readers.ts'), [
  grpcUrl,
  grpcKey,
  values.streams,
  JSON.stringify(drawing),
]);
let found: Found = { messages: 0, slots: 0, faults: [], faultCount: 0, lagged: [] };
readers.on('message', (word: Found) => {
  if (word.faultCount > found.faultCount) say(`FAULT ${word.faults.at(-1)}`);
  found = word;
});

const endAt = performance.now() + Number(values.minutes) * 60_000;
const memory: number[] = [];
const sampler = setInterval(() => memory.push(residentMib(service.process.pid!)), SAMPLE_MS);
let kills = 0;

async function away(which: readonly Upstream[]): Promise<void> {
  await Promise.all(which.map((upstream) => upstream.kill()));
  await sleep(Number(values.down) * 1_000);
  await Promise.all(which.map((upstream) => upstream.start()));
}

async function unrest(): Promise<void> {
  const every = Number(values['kill-every']) * 1_000;
  if (every === 0) return sleep(endAt - performance.now());
  for (let turn = 0; ; turn++) {
    await sleep(Math.max(0, Math.min(every, endAt - performance.now())));
    // What the last kill did shows for some seconds.
    if (endAt - performance.now() < 10_000) break;
    kills++;
    const both = turn % BOTH_EACH === BOTH_EACH - 1;
    say(
      `${both ? 'both servers die' : `server ${(turn % 2) + 1} dies`}; ${found.messages} messages, ${found.slots} slots of streams, ${Math.round(memory.at(-1) ?? 0)} MiB`,
    );
    await away(both ? upstreams : [upstreams[turn % 2]!]);
  }
  await sleep(Math.max(0, endAt - performance.now()));
}

await unrest();
await sleep(2_000);
clearInterval(sampler);
const settled = memory.slice(Math.floor(memory.length * SETTLED_SHARE));
const half = Math.floor(settled.length / 2);
const growth = median(settled.slice(half)) / median(settled.slice(0, half));
const hasLagged = found.lagged.some((text) => /lagged .*\d/.test(text));
const whole = found.faultCount === 0 && found.slots > 0 && hasLagged && growth <= GROWTH_MAX;
const result = {
  minutes: Number(values.minutes),
  kills,
  ...found,
  growth,
  memoryMib: memory.map(Math.round),
  whole,
};
if (values.json) process.stdout.write(`${JSON.stringify(result)}\n`);
say(`${found.messages} messages in ${found.slots} slots of ${streams - 1} streams, ${kills} kills`);
say(`the stream that reads nothing ended ${found.lagged.length} times: ${found.lagged[0] ?? 'never'}`);
say(
  `memory of the gateway ${sparkline(memory)} ${Math.round(Math.min(...memory))} to ${Math.round(Math.max(...memory))} MiB; second half to first: ${growth.toFixed(3)}`,
);
for (const text of found.faults) say(text);
say(whole ? 'Nothing was missed, nothing came twice, memory is flat.' : `FAULTS: ${found.faultCount}`);
if (!whole)
  say(
    service
      .output()
      .split('\n')
      .filter((line) => line.includes('"level":'))
      .slice(-30)
      .join('\n'),
  );
readers.disconnect();
await service.stop();
for (const upstream of upstreams) await upstream.kill();
process.exit(whole ? 0 : 1);
