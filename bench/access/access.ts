import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type BenchOptions, publish, type Setting, type Spread, settingOf, spread } from '../results.ts';
import { cpuSeconds, endAll, forkOn } from '../rpc/processes.ts';
import {
  type HolderMessage,
  type HolderOrder,
  type LoaderMessage,
  type LoaderOrder,
  type Operation,
  operations,
} from './messages.ts';

/** CPUs: the holders share one and run one at a time; the loader has the other. */
const HOLDER_CPU = 0;
const LOADER_CPU = 1;

const FEWER = 10_000;
const MANY = 1_000_000;
const counts = [1, FEWER, MANY] as const;
const HEAP_MIB = 4_096;
const WARM_UP_SECONDS = 0.5;
/** Highest cost ratio to fewer keys that counts as flat. */
const FLAT_FACTOR = 1.5;

type Facts = Readonly<{ bytesPerKey: number; buildSeconds: number }>;

type Summary = Setting &
  Readonly<{
    /** Nanoseconds of CPU by operation and number of keys. */
    nanoseconds: Readonly<Record<Operation, Readonly<Record<number, Spread>>>>;
    /** Cost ratio to one key per round, with up to 10,000 keys in use. */
    overOneKey: Readonly<Record<number, Spread>>;
    /** Cost ratio of 1,000,000 keys to 10,000 keys, both with 10,000 in use: the cost of idle keys. */
    manyOverFewer: Spread;
    /** Like `overOneKey`, with 64 keys in use. */
    fewOverOneKey: Readonly<Record<number, Spread>>;
    /** Microseconds of CPU of a whole request with a ready response, by number of keys. */
    wholeRequestMicroseconds: Readonly<Record<number, Spread>>;
    /** Ratio of `wholeRequestMicroseconds` to that of one key, per round. */
    wholeOverOneKey: Readonly<Record<number, Spread>>;
    /** Share of the CPU time spent on authentication, rules, quota, rate limit and metering. */
    shareOfRequest: Readonly<Record<number, Spread>>;
    keys: Readonly<Record<number, Facts>>;
    /** Whether `overOneKey` of a million keys is at most `FLAT_FACTOR`. */
    accessIsFlat: boolean;
    manyIsFlat: boolean;
    fewIsFlat: boolean;
    wholeIsFlat: boolean;
  }>;

class Holder {
  readonly count: number;
  readonly #process: ChildProcess;
  readonly #first: Promise<unknown[]>;

  constructor(count: number) {
    this.count = count;
    const flags = ['--expose-gc', `--max-old-space-size=${HEAP_MIB}`];
    this.#process = forkOn(HOLDER_CPU, join(import.meta.dirname, 'holder.ts'), flags, [String(count)]);
    this.#first = once(this.#process, 'message');
  }

  async ready(): Promise<Facts> {
    const [message] = (await this.#first) as [HolderMessage];
    if (!('ready' in message)) throw new Error('the key holder did not start');
    return message.ready;
  }

  get cpuSeconds(): number {
    return cpuSeconds(this.#process.pid ?? 0);
  }

  async measure(work: Operation, seconds: number): Promise<number> {
    const message = await this.#request({ operation: work, seconds });
    return 'nanoseconds' in message ? message.nanoseconds : Number.NaN;
  }

  async serve(): Promise<{ port: number; keys: readonly string[] }> {
    const message = await this.#request({ serve: true });
    if (!('listening' in message)) throw new Error('the server did not start');
    return message.listening;
  }

  async #request(order: HolderOrder): Promise<HolderMessage> {
    this.#process.send(order);
    const [message] = (await once(this.#process, 'message')) as [HolderMessage];
    return message;
  }
}

async function measureWhole(holder: Holder, loader: ChildProcess, order: LoaderOrder): Promise<number> {
  const before = holder.cpuSeconds;
  loader.send(order);
  const [{ requests }] = (await once(loader, 'message')) as [LoaderMessage];
  return ((holder.cpuSeconds - before) * 1e6) / requests;
}

type Round = Readonly<{ parts: ReadonlyMap<string, number>; whole: ReadonlyMap<number, number> }>;

const nameOf = (work: Operation, count: number): string => `${work} ${count}`;

async function measureRounds(holders: readonly Holder[], options: BenchOptions): Promise<Round[]> {
  const loader = forkOn(LOADER_CPU, join(import.meta.dirname, 'loader.ts'));
  const handlers = new Map<Holder, Awaited<ReturnType<Holder['serve']>>>();
  const load = (holder: Holder, seconds: number): Promise<number> => {
    const handler = handlers.get(holder);
    if (handler === undefined) throw new Error('the server did not start');
    return measureWhole(holder, loader, { ...handler, seconds });
  };
  for (const holder of holders) {
    handlers.set(holder, await holder.serve());
    await load(holder, 4 * WARM_UP_SECONDS);
    for (const work of operations) await holder.measure(work, WARM_UP_SECONDS);
  }
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    process.stderr.write(`round ${round} of ${options.rounds}\n`);
    const parts = new Map<string, number>();
    for (const work of operations) {
      for (const holder of holders) {
        const nanoseconds = await holder.measure(work, options.seconds / operations.length);
        parts.set(nameOf(work, holder.count), nanoseconds);
      }
    }
    const whole = new Map<number, number>();
    for (const holder of holders) whole.set(holder.count, await load(holder, options.seconds));
    rounds.push({ parts, whole });
  }
  return rounds;
}

function summarize(rounds: readonly Round[], keys: Summary['keys'], options: BenchOptions): Summary {
  const of = (work: Operation, count: number) =>
    rounds.map(({ parts }) => parts.get(nameOf(work, count)) ?? 0);
  const all = (count: number) => of('all of it', count);
  const byCount = <Value>(value: (count: number) => Value) =>
    Object.fromEntries(counts.map((count) => [count, value(count)]));
  const whole = (count: number) => rounds.map((round) => round.whole.get(count) ?? 0);
  const over = (costs: (count: number) => readonly number[]) =>
    byCount((count) => spread(costs(count).map((cost, at) => cost / (costs(1)[at] as number))));
  const few = (count: number) => of('all of it, 64 used', count);
  const [overOneKey, fewOverOneKey, wholeOverOneKey] = [over(all), over(few), over(whole)];
  const isFlat = (ratios: Readonly<Record<number, Spread>>): boolean =>
    (ratios[MANY]?.median ?? Number.NaN) <= FLAT_FACTOR;
  const manyOverFewer = spread(all(MANY).map((cost, at) => cost / (all(FEWER)[at] as number)));
  const byOperation = operations.map((work) => [work, byCount((count) => spread(of(work, count)))] as const);
  const share = (count: number) =>
    whole(count).map((microseconds, at) => (all(count)[at] as number) / 1_000 / microseconds);
  return {
    ...settingOf(`npm run bench -- access --rounds ${options.rounds} --seconds ${options.seconds}`),
    nanoseconds: Object.fromEntries(byOperation) as unknown as Summary['nanoseconds'],
    overOneKey,
    manyOverFewer,
    fewOverOneKey,
    wholeRequestMicroseconds: byCount((count) => spread(whole(count))),
    wholeOverOneKey,
    shareOfRequest: byCount((count) => spread(share(count))),
    keys,
    accessIsFlat: isFlat(overOneKey),
    manyIsFlat: manyOverFewer.median <= FLAT_FACTOR,
    fewIsFlat: isFlat(fewOverOneKey),
    wholeIsFlat: isFlat(wholeOverOneKey),
  };
}

const spreadText = ({ median, min, max }: Spread, digits = 0): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} … ${max.toFixed(digits)})`;

function render(summary: Summary): string {
  const name = (count: number): string => `${count.toLocaleString('en')} key${count === 1 ? '' : 's'}`;
  const lines = operations.map((work) => {
    const cells = counts.map((count) => spreadText(summary.nanoseconds[work][count] as Spread).padStart(24));
    return `${work.padEnd(20)}${cells.join('')}`;
  });
  const row = (name: string, cell: (count: number) => string): string =>
    `${name.padEnd(20)}${counts.map((count) => cell(count).padStart(24)).join('')}`;
  const percent = ({ median, min, max }: Spread): Spread => ({
    median: median * 100,
    min: min * 100,
    max: max * 100,
  });
  const weights = counts.map((count) => {
    const { bytesPerKey, buildSeconds } = summary.keys[count] as Facts;
    return `${name(count)}: ${Math.round(bytesPerKey)} bytes each, loaded in ${buildSeconds.toFixed(1)} s`;
  });
  const result = (what: string, isFlat: boolean, ratios: Readonly<Record<number, Spread>>): string =>
    `${what}: ${spreadText(ratios[MANY] as Spread, 2)} times one key, ${isFlat ? 'flat' : 'not flat'}`;
  const idleKeysLine =
    `access alone, 10,000 in use of a million: ${spreadText(summary.manyOverFewer, 2)} times 10,000 in use of 10,000, ` +
    (summary.manyIsFlat ? 'flat' : 'not flat');
  return `Nanoseconds of CPU per request, up to 10,000 keys in use; median (min … max)

${row('', name)}
${lines.join('\n')}
${row('times one key', (count) => spreadText(summary.overOneKey[count] as Spread, 2))}

A whole request with a ready response

${row('microseconds', (count) => spreadText(summary.wholeRequestMicroseconds[count] as Spread, 1))}
${row('"all of it", %', (count) => spreadText(percent(summary.shareOfRequest[count] as Spread), 1))}
${row('times one key', (count) => spreadText(summary.wholeOverOneKey[count] as Spread, 2))}

With a million keys (flat: at most ${FLAT_FACTOR} times)
${result('access alone, 64 keys in use', summary.fewIsFlat, summary.fewOverOneKey)}
${result('access alone, 10,000 in use', summary.accessIsFlat, summary.overOneKey)}
${idleKeysLine}
${result('a whole request', summary.wholeIsFlat, summary.wholeOverOneKey)}
${weights.join('\n')}
"map and bucket" and "signed token" are the alternatives: a Map by SHA-256 with a fixed window and counters, and a
token with a signature (HS256) without limit, counters or revocation. Many keys in use cost CPU cache misses.
`;
}

/**
 * `npm run bench -- access`: cost of authentication, authorization and metering with 1, 10,000 and 1,000,000 keys,
 * compared with simple alternatives.
 */
export async function runAccessBench(options: BenchOptions): Promise<void> {
  try {
    const holders = counts.map((count) => new Holder(count));
    process.stderr.write('creating keys …\n');
    const facts = await Promise.all(holders.map(async (holder) => [holder.count, await holder.ready()]));
    const rounds = await measureRounds(holders, options);
    const summary = summarize(rounds, Object.fromEntries(facts) as Summary['keys'], options);
    publish('access', summary, options, render);
  } finally {
    await endAll();
  }
}
