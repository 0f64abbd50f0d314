import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type BenchOptions, publish } from '../results.ts';
import { cpuSeconds, endAll, forkOn } from '../rpc/processes.ts';
import {
  type Crowd,
  isSpread,
  mainnetBlocks,
  type ServerMessage,
  type ServerOrder,
  type SinkMessage,
  type SinkOrder,
} from './messages.ts';
import { type Matched, type Measured, render, type Spreading, summarize } from './report.ts';

/** CPUs: the servers share one and run one at a time; the sinks have the other. */
const SERVER_CPU = 0;
const SINK_CPU = 1;

const crowds: readonly Crowd[] = [
  { streams: 1, load: 'accounts', filtersEach: 1 },
  { streams: 10, load: 'accounts', filtersEach: 1 },
  { streams: 100, load: 'accounts', filtersEach: 1 },
  { streams: 10, load: 'blocks', filtersEach: 1 },
];
/** Total filters of ten streams; each update matches one. */
const spreadings: readonly Spreading[] = [
  { load: 'spread', filterCounts: [10, 1_000, 10_000, 100_000] },
  { load: 'spread by owner, memcmp and datasize', filterCounts: [10, 10_000, 100_000] },
  { load: 'spread by memcmp', filterCounts: [10, 10_000] },
];
const FILTER_STREAMS = 10;
const FILTERS_PER_TURN = 8;
const perTurns = [1, 8, 32] as const;
/** Messages per command, over all streams. */
const ORDER_MESSAGES = 40_000;
const WARM_UP_SECONDS = 2;

/** A server and its clients, each a process. */
class Variant {
  readonly name: string;
  readonly #server: ChildProcess;
  readonly #sink: ChildProcess;
  readonly #firstMessage: Promise<unknown[]>;

  constructor(name: string, script: string, { load, streams, filtersEach }: Crowd) {
    const here = import.meta.dirname;
    this.name = name;
    this.#server = forkOn(SERVER_CPU, join(here, script), [], [load, String(streams * filtersEach)]);
    this.#firstMessage = once(this.#server, 'message');
    this.#sink = forkOn(SINK_CPU, join(here, 'sink.ts'));
  }

  async collectGarbage(crowd: Crowd): Promise<void> {
    const [message] = (await this.#firstMessage) as [ServerMessage];
    if (!('listening' in message)) throw new Error('the server does not listen');
    await this.#sinkDoes({ connect: { ...message.listening, ...crowd } });
  }

  /** Emits updates for about this long. @returns microseconds of CPU per delivered message. */
  async load({ streams, load }: Crowd, perTurn: number, seconds: number): Promise<number> {
    const pid = this.#server.pid ?? 0;
    const before = cpuSeconds(pid);
    const end = performance.now() + seconds * 1000;
    const each = isSpread(load) ? 1 : streams;
    const updates = Math.ceil(ORDER_MESSAGES / each);
    let messages = 0;
    while (performance.now() < end) {
      const arrived = this.#sinkDoes({ expect: updates * each });
      this.#server.send({ emit: updates, perTurn } satisfies ServerOrder);
      await arrived;
      messages += updates * each;
    }
    return ((cpuSeconds(pid) - before) * 1e6) / messages;
  }

  async #sinkDoes(order: SinkOrder): Promise<void> {
    this.#sink.send(order);
    const [message] = (await once(this.#sink, 'message')) as [SinkMessage];
    if (!message.done) throw new Error('the sink did not complete the order');
  }
}

async function measureCrowd(crowd: Crowd, { rounds, seconds }: BenchOptions): Promise<Measured[]> {
  const measured: Measured[] = [];
  const variants = [
    new Variant('solway', 'solway-server.ts', crowd),
    new Variant('grpc-js', 'grpcjs-server.ts', crowd),
  ];
  for (const variant of variants) {
    await variant.collectGarbage(crowd);
    for (const perTurn of perTurns) await variant.load(crowd, perTurn, WARM_UP_SECONDS / perTurns.length);
  }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`${crowd.load} to ${crowd.streams}: round ${round} of ${rounds}\n`);
    for (const perTurn of perTurns) {
      for (const variant of variants) {
        const microseconds = await variant.load(crowd, perTurn, seconds);
        measured.push({ crowd, perTurn, variant: variant.name, microseconds });
      }
    }
  }
  await endAll();
  return measured;
}

async function measureMatching(
  { load, filterCounts }: Spreading,
  { rounds, seconds }: BenchOptions,
): Promise<Matched[]> {
  const matched: Matched[] = [];
  const variants = filterCounts.map((filters) => {
    const crowd: Crowd = { streams: FILTER_STREAMS, load, filtersEach: filters / FILTER_STREAMS };
    return { filters, crowd, variant: new Variant('solway', 'solway-server.ts', crowd) };
  });
  for (const { crowd, variant } of variants) {
    await variant.collectGarbage(crowd);
    await variant.load(crowd, FILTERS_PER_TURN, WARM_UP_SECONDS);
  }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`filters, ${load}: round ${round} of ${rounds}\n`);
    for (const { filters, crowd, variant } of variants) {
      matched.push({ load, filters, microseconds: await variant.load(crowd, FILTERS_PER_TURN, seconds) });
    }
  }
  await endAll();
  return matched;
}

/**
 * `npm run bench -- grpc`: the same updates to the same streams from the gRPC server with keys, filters and queues, and
 * from @grpc/grpc-js with messages encoded in advance. Ratios of the server's CPU time per round. Then the cost of an
 * update that matches one of many filters.
 */
export async function runGrpcBench(options: BenchOptions): Promise<void> {
  const measured: Measured[] = [];
  const matched: Matched[] = [];
  const possible = crowds.filter(({ load }) => load !== 'blocks' || mainnetBlocks() !== null);
  if (possible.length < crowds.length) process.stderr.write('skipped: mainnet blocks are missing\n');
  try {
    for (const crowd of possible) measured.push(...(await measureCrowd(crowd, options)));
    for (const each of spreadings) matched.push(...(await measureMatching(each, options)));
  } finally {
    await endAll();
  }
  const { rounds, seconds } = options;
  const summary = summarize({ crowds: possible, perTurns, spreadings }, measured, matched, {
    rounds,
    seconds,
  });
  publish('grpc', summary, options, render);
}
