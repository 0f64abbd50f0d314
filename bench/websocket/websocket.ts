import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type BenchOptions, publish } from '../results.ts';
import { cpuSeconds, endAll, forkOn } from '../rpc/processes.ts';
import {
  FRAME_BYTES,
  type ServerMessage,
  type ServerOrder,
  type SinkMessage,
  type SinkOrder,
} from './messages.ts';
import { type Crowd, type Measured, render, summarize, type Weighed } from './report.ts';

/** CPUs: the servers share one and run one at a time; the sinks have the other. */
const SERVER_CPU = 0;
const SINK_CPU = 1;

const crowds: readonly Crowd[] = [
  { subscribers: 1_000, accounts: 1 },
  { subscribers: 1_000, accounts: 1_000 },
  { subscribers: 10_000, accounts: 1 },
  { subscribers: 10_000, accounts: 1_000 },
];
const perTicks = [1, 4, 8] as const;
const WARM_UP_SECONDS = 2;

/** A server and its clients, each a process. */
class Variant {
  readonly name: string;
  readonly #server: ChildProcess;
  readonly #sink: ChildProcess;
  readonly #firstWord: Promise<unknown[]>;
  #address: { port: number; path: string } = { port: 0, path: '/' };

  constructor(name: string, script: string) {
    const here = import.meta.dirname;
    this.name = name;
    this.#server = forkOn(SERVER_CPU, join(here, script), ['--expose-gc']);
    this.#firstWord = once(this.#server, 'message');
    this.#sink = forkOn(SINK_CPU, join(here, 'sink.ts'));
  }

  async listening(): Promise<void> {
    const [message] = (await this.#firstWord) as [ServerMessage];
    if ('listening' in message) this.#address = message.listening;
  }

  /** Connects the subscribers. @returns memory per connection in bytes. */
  async collectGarbage({ subscribers, accounts }: Crowd): Promise<number> {
    const before = await this.#weigh();
    await this.#sinkDoes({ connect: { ...this.#address, connections: subscribers, accounts } });
    return ((await this.#weigh()) - before) / subscribers;
  }

  async dismiss(): Promise<void> {
    await this.#sinkDoes({ disconnect: true });
  }

  /** Emits turns of events, each after the previous one has arrived. @returns messages per CPU second. */
  async load({ subscribers }: Crowd, perTick: number, seconds: number): Promise<number> {
    const pid = this.#server.pid ?? 0;
    const before = cpuSeconds(pid);
    const end = performance.now() + seconds * 1000;
    let messages = 0;
    while (performance.now() < end) {
      const arrived = this.#sinkDoes({ expect: subscribers * perTick * FRAME_BYTES });
      this.#server.send({ emit: perTick } satisfies ServerOrder);
      await arrived;
      messages += subscribers * perTick;
    }
    return messages / (cpuSeconds(pid) - before);
  }

  async #weigh(): Promise<number> {
    this.#server.send({ weigh: true } satisfies ServerOrder);
    const [message] = (await once(this.#server, 'message')) as [ServerMessage];
    return 'residentBytes' in message ? message.residentBytes : Number.NaN;
  }

  async #sinkDoes(order: SinkOrder): Promise<void> {
    this.#sink.send(order);
    const [message] = (await once(this.#sink, 'message')) as [SinkMessage];
    if (!message.done) throw new Error('the sink did not complete the order');
  }
}

async function measureCrowd(
  variants: readonly Variant[],
  crowd: Crowd,
  { rounds, seconds }: BenchOptions,
): Promise<{ measured: Measured[]; weighed: Weighed[] }> {
  const measured: Measured[] = [];
  const weighed: Weighed[] = [];
  for (const variant of variants) {
    weighed.push({ crowd, variant: variant.name, bytesPerConnection: await variant.collectGarbage(crowd) });
    for (const perTick of perTicks) await variant.load(crowd, perTick, WARM_UP_SECONDS / perTicks.length);
  }
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`${crowd.subscribers} of ${crowd.accounts}: round ${round} of ${rounds}\n`);
    for (const perTick of perTicks) {
      for (const variant of variants) {
        const messagesPerCpuSecond = await variant.load(crowd, perTick, seconds);
        measured.push({ crowd, perTick, variant: variant.name, messagesPerCpuSecond });
      }
    }
  }
  for (const variant of variants) await variant.dismiss();
  return { measured, weighed };
}

/**
 * `npm run bench -- websocket`: the same notifications to the same subscribers from the WebSocket server and from a `ws`
 * server that serializes each message for each client, in interleaved rounds. Only the CPU time of the server counts,
 * so a slow sink makes a run longer but does not change its result.
 */
export async function runWebSocketBench(options: BenchOptions): Promise<void> {
  const measured: Measured[] = [];
  const weighed: Weighed[] = [];
  try {
    for (const crowd of crowds) {
      const variants = [new Variant('solway', 'solway-server.ts'), new Variant('plain', 'plain-server.ts')];
      for (const variant of variants) await variant.listening();
      const result = await measureCrowd(variants, crowd, options);
      measured.push(...result.measured);
      weighed.push(...result.weighed);
      await endAll();
    }
  } finally {
    await endAll();
  }
  const { rounds, seconds } = options;
  const summary = summarize(crowds, perTicks, measured, weighed, { rounds, seconds });
  publish('websocket', summary, options, render);
}
