import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { record, type Setting, type Spread, settingOf, spread } from '../results.ts';
import { cpuSeconds, endAll, forkOn } from '../rpc/processes.ts';
import type { BenchOptions } from '../rpc/rpc.ts';
import {
  type HolderOrder,
  type HolderWord,
  type LoaderOrder,
  type LoaderWord,
  type Work,
  works,
} from './messages.ts';

/** Processors: those who hold keys share one, and only one works at a time; the loader has the other. */
const HOLDER_CPU = 0;
const LOADER_CPU = 1;

const counts = [1, 10_000, 1_000_000] as const;
/** The number with which whole requests are measured. */
const SERVED = 10_000;
/** A million keys with what lies about while they are made. */
const HEAP_MIB = 4_096;
const WARM_UP_SECONDS = 0.5;
/** What is called flat: no more than so much above the cost with one key. */
const FLAT_FACTOR = 1.5;

type Facts = Readonly<{ bytesPerKey: number; buildSeconds: number }>;

type Summary = Setting &
  Readonly<{
    /** Nanoseconds of CPU for each, by work and number of keys. */
    nanoseconds: Readonly<Record<Work, Readonly<Record<number, Spread>>>>;
    /** Cost with so many keys over that with one, round by round. */
    overOneKey: Readonly<Record<number, Spread>>;
    /** Microseconds of CPU of a whole request from its socket to its socket, its answer ready. */
    wholeRequestMicroseconds: Spread;
    /** The part of it that is authentication, rules, quota, limit and meter. */
    shareOfRequest: Spread;
    keys: Readonly<Record<number, Facts>>;
    isFlat: boolean;
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
    const [word] = (await this.#first) as [HolderWord];
    if (!('ready' in word)) throw new Error('the holder of keys did not begin');
    return word.ready;
  }

  get cpuSeconds(): number {
    return cpuSeconds(this.#process.pid ?? 0);
  }

  async measure(work: Work, seconds: number): Promise<number> {
    const word = await this.#ask({ work, seconds });
    return 'nanoseconds' in word ? word.nanoseconds : Number.NaN;
  }

  async serve(): Promise<{ port: number; keys: readonly string[] }> {
    const word = await this.#ask({ serve: true });
    if (!('listening' in word)) throw new Error('the door did not open');
    return word.listening;
  }

  async #ask(order: HolderOrder): Promise<HolderWord> {
    this.#process.send(order);
    const [word] = (await once(this.#process, 'message')) as [HolderWord];
    return word;
  }
}

/** Microseconds of CPU of one whole request. */
async function measureWhole(holder: Holder, loader: ChildProcess, order: LoaderOrder): Promise<number> {
  const before = holder.cpuSeconds;
  loader.send(order);
  const [{ requests }] = (await once(loader, 'message')) as [LoaderWord];
  return ((holder.cpuSeconds - before) * 1e6) / requests;
}

type Round = Readonly<{ parts: ReadonlyMap<string, number>; whole: number }>;

const placeOf = (work: Work, count: number): string => `${work} ${count}`;

async function measureRounds(holders: readonly Holder[], options: BenchOptions): Promise<Round[]> {
  const served = holders.find(({ count }) => count === SERVED) as Holder;
  const door = await served.serve();
  const loader = forkOn(LOADER_CPU, join(import.meta.dirname, 'loader.ts'));
  await measureWhole(served, loader, { ...door, seconds: 4 * WARM_UP_SECONDS });
  for (const holder of holders) for (const work of works) await holder.measure(work, WARM_UP_SECONDS);
  const rounds: Round[] = [];
  for (let round = 1; round <= options.rounds; round++) {
    process.stderr.write(`round ${round} of ${options.rounds}\n`);
    const parts = new Map<string, number>();
    for (const work of works) {
      for (const holder of holders) {
        const nanoseconds = await holder.measure(work, options.seconds / works.length);
        parts.set(placeOf(work, holder.count), nanoseconds);
      }
    }
    rounds.push({ parts, whole: await measureWhole(served, loader, { ...door, seconds: options.seconds }) });
  }
  return rounds;
}

function summarize(rounds: readonly Round[], keys: Summary['keys'], options: BenchOptions): Summary {
  const of = (work: Work, count: number) => rounds.map(({ parts }) => parts.get(placeOf(work, count)) ?? 0);
  const all = (count: number) => of('all of it', count);
  const byCount = <Value>(value: (count: number) => Value) =>
    Object.fromEntries(counts.map((count) => [count, value(count)]));
  const overOneKey = byCount((count) =>
    spread(all(count).map((cost, at) => cost / (all(1)[at] as number))),
  ) as Record<number, Spread>;
  const ofWork = works.map((work) => [work, byCount((count) => spread(of(work, count)))] as const);
  const shares = rounds.map(({ whole }, at) => (all(SERVED)[at] as number) / 1_000 / whole);
  return {
    ...settingOf(`npm run bench -- access --rounds ${options.rounds} --seconds ${options.seconds}`),
    nanoseconds: Object.fromEntries(ofWork) as unknown as Summary['nanoseconds'],
    overOneKey,
    wholeRequestMicroseconds: spread(rounds.map(({ whole }) => whole)),
    shareOfRequest: spread(shares),
    keys,
    isFlat: (overOneKey[counts.at(-1) as number]?.median ?? Number.NaN) <= FLAT_FACTOR,
  };
}

const said = ({ median, min, max }: Spread, digits = 0): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)} … ${max.toFixed(digits)})`;

function render(summary: Summary): string {
  const name = (count: number): string => `${count.toLocaleString('en')} key${count === 1 ? '' : 's'}`;
  const lines = works.map((work) => {
    const cells = counts.map((count) => said(summary.nanoseconds[work][count] as Spread).padStart(24));
    return `${work.padEnd(18)}${cells.join('')}`;
  });
  const over = counts.map((count) => said(summary.overOneKey[count] as Spread, 2).padStart(24));
  const weights = counts.map((count) => {
    const { bytesPerKey, buildSeconds } = summary.keys[count] as Facts;
    return `${name(count)}: ${Math.round(bytesPerKey)} bytes each, taken in within ${buildSeconds.toFixed(1)} s`;
  });
  return `Nanoseconds of CPU for each request, up to 10,000 keys of all in use; median (least … most)

${''.padEnd(18)}${counts.map((count) => name(count).padStart(24)).join('')}
${lines.join('\n')}
${'over one key'.padEnd(18)}${over.join('')}

A whole request, its answer ready: ${said(summary.wholeRequestMicroseconds, 1)} µs; all of the above is ${said(
    {
      median: summary.shareOfRequest.median * 100,
      min: summary.shareOfRequest.min * 100,
      max: summary.shareOfRequest.max * 100,
    },
    1,
  )} % of it.
${weights.join('\n')}
${summary.isFlat ? 'Flat' : 'Not flat'}: a million keys cost ${said(summary.overOneKey[1_000_000] as Spread, 2)} times what one does (${FLAT_FACTOR} is called flat).
"map and bucket" and "signed token" are what others do: a Map by SHA-256 with a window and a count, and a token with
a signature (HS256) without limit, count or revocation.
`;
}

/**
 * `npm run bench -- access`: what it costs a request to be asked who it is, whether it may, and to be counted, with 1,
 * 10,000 and 1,000,000 keys in turn, and beside it what a user would write instead. It reports, and judges nothing.
 */
export async function runAccessBench(options: BenchOptions): Promise<void> {
  try {
    const holders = counts.map((count) => new Holder(count));
    process.stderr.write('making keys …\n');
    const facts = await Promise.all(holders.map(async (holder) => [holder.count, await holder.ready()]));
    const rounds = await measureRounds(holders, options);
    const summary = summarize(rounds, Object.fromEntries(facts) as Summary['keys'], options);
    process.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : render(summary));
    if (options.record) process.stderr.write(`recorded in ${record('access', summary)}\n`);
  } finally {
    await endAll();
  }
}
