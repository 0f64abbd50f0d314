import type { Coverage, RanFunction, Reached } from './coverage.ts';
import { createRandom, nextInput, type Random } from './mutate.ts';
import { runInput } from './run-input.ts';
import type { FuzzTarget } from './target.ts';

export type Exploration = Readonly<{
  runs: number;
  accepted: number;
  cpuMs: number;
  slowestMs: number;
  /** Inputs with more coverage than the initial inputs. */
  found: readonly Uint8Array[];
  failure: Failure | null;
}>;

/** An input that made a target throw, and the error. */
export type Failure = Readonly<{ input: Uint8Array; text: string }>;

export type ExploreOptions = Readonly<{
  seed: number;
  cpuMs: number;
  first: readonly Uint8Array[];
}>;

type Ran = Pick<Coverage, 'take'>;

/** Minimum time of a batch as a multiple of the time to read coverage. */
const BATCH_TIME_RATIO = 8;
const BATCH_MAX = 8_192;
const INPUT_MAX_BYTES = 16 * 1024;

const cpuMsOfThread = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

export class Explorer {
  readonly #target: FuzzTarget;
  readonly #coverage: Ran;
  readonly #reached: Reached;
  readonly #options: ExploreOptions;
  readonly #random: Random;
  readonly #pool: Uint8Array[];
  readonly #found: Uint8Array[] = [];
  #runs = 0;
  #accepted = 0;
  #slowestMs = 0;
  #failure: Failure | null = null;

  constructor(target: FuzzTarget, coverage: Ran, reached: Reached, options: ExploreOptions) {
    this.#target = target;
    this.#coverage = coverage;
    this.#reached = reached;
    this.#options = options;
    this.#random = createRandom(options.seed);
    this.#pool = [...options.first];
  }

  async run(): Promise<Exploration> {
    const startedAt = cpuMsOfThread();
    const spent = (): number => cpuMsOfThread() - startedAt;
    await this.#feed(this.#pool);
    this.#reached.add(this.#coverage.take());
    for (let size = 64; this.#failure === null && spent() < this.#options.cpuMs; ) {
      const batch = Array.from({ length: size }, () => this.#next());
      const before = spent();
      await this.#feed(batch, () => spent() >= this.#options.cpuMs);
      const fedMs = spent() - before;
      const ran = this.#coverage.take();
      if (fedMs < BATCH_TIME_RATIO * (spent() - before - fedMs)) size = Math.min(BATCH_MAX, size * 2);
      await this.#keepNew(batch, ran);
    }
    return {
      runs: this.#runs,
      accepted: this.#accepted,
      cpuMs: spent(),
      slowestMs: this.#slowestMs,
      found: this.#found,
      failure: this.#failure,
    };
  }

  #next(): Uint8Array {
    const { generate } = this.#target;
    if (generate !== undefined && this.#random() % 3 === 0) return generate(this.#random);
    return nextInput(this.#pool, this.#random).subarray(0, INPUT_MAX_BYTES);
  }

  async #feed(inputs: readonly Uint8Array[], isOver: () => boolean = () => false): Promise<void> {
    for (const input of inputs) {
      if (this.#failure !== null || isOver()) return;
      const { accepted, failure, ms } = await runInput(this.#target.fuzz, input);
      this.#runs++;
      if (accepted) this.#accepted++;
      this.#slowestMs = Math.max(this.#slowestMs, ms);
      if (failure !== null) this.#failure = { input, text: failure };
    }
  }

  async #keepNew(batch: readonly Uint8Array[], ran: readonly RanFunction[]): Promise<void> {
    if (this.#failure === null && this.#reached.isNew(ran)) await this.#search(batch);
    // Code that ran only once, such as that of a timer, is not searched for again.
    this.#reached.add(ran);
  }

  async #search(inputs: readonly Uint8Array[]): Promise<void> {
    const middle = Math.ceil(inputs.length / 2);
    for (const half of inputs.length === 1 ? [inputs] : [inputs.slice(0, middle), inputs.slice(middle)]) {
      await this.#feed(half);
      const ran = this.#coverage.take();
      if (this.#failure !== null || !this.#reached.isNew(ran)) continue;
      if (half.length > 1) await this.#search(half);
      else this.#keep(half[0] as Uint8Array);
      this.#reached.add(ran);
    }
  }

  #keep(input: Uint8Array): void {
    this.#found.push(input);
    this.#pool.push(input);
  }
}
