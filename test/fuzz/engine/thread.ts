import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { fitting, readCorpus } from './corpus.ts';
import { Coverage, Reached } from './coverage.ts';
import { type Exploration, Explorer, type Failure } from './explore.ts';
import { distil, minimise } from './minimise.ts';
import { kindOf, runInput } from './run-input.ts';
import type { FuzzTarget } from './target.ts';
import { loadTarget } from './target-files.ts';

export type ThreadTask = Readonly<{
  name: string;
  seed: number;
  cpuMs: number;
  input: Uint8Array | null;
  /** Reports a new corpus at the end. */
  distils: boolean;
}>;

/** `functions`: the number of functions in src that ran. `corpus`: null unless requested. */
export type ThreadReport = Exploration &
  Readonly<{ functions: number; corpus: readonly Uint8Array[] | null }>;

/** A failure as soon as it is found, then the report with the minimized input. */
type Message = Readonly<{ failure: Failure } | { report: ThreadReport }>;

/** Limits of time per input, generous for a busy machine, and of memory. */
const STUCK_MS = 15_000;
const HEAP_MAX_MB = 768;
const MINIMISE_TRIES_MAX = 2_000;
const MINIMISE_MS = 10_000;
const HEAD_BYTES = 8;
const INPUT_MAX_BYTES = 64 * 1024;

/** The current input of a thread, readable by another if the first hangs. Memory: count, length, bytes. */
class SharedInput {
  readonly memory: SharedArrayBuffer;
  readonly #head: Int32Array;
  readonly #bytes: Uint8Array;

  constructor(memory = new SharedArrayBuffer(HEAD_BYTES + INPUT_MAX_BYTES)) {
    this.memory = memory;
    this.#head = new Int32Array(memory, 0, 2);
    this.#bytes = new Uint8Array(memory, HEAD_BYTES);
  }

  get count(): number {
    return Atomics.load(this.#head, 0);
  }

  put(input: Uint8Array): void {
    this.#bytes.set(input.subarray(0, INPUT_MAX_BYTES));
    Atomics.store(this.#head, 1, Math.min(input.length, INPUT_MAX_BYTES));
    Atomics.add(this.#head, 0, 1);
  }

  get(): Uint8Array {
    return Uint8Array.from(this.#bytes.subarray(0, Atomics.load(this.#head, 1)));
  }
}

/** Runs a task in its own thread, so that a target that hangs or fills the memory can be stopped. */
export function inThread(task: ThreadTask): Promise<ThreadReport> {
  const shared = new SharedInput();
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { ...task, memory: shared.memory },
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
  });
  return new Promise((resolve) => {
    let failed: Failure | null = null;
    let seen = 0;
    const finish = (report: ThreadReport): void => {
      clearInterval(watch);
      void worker.terminate();
      resolve(report);
    };
    const abort = (text: string): void =>
      finish({
        ...{ accepted: 0, cpuMs: 0, slowestMs: 0, functions: 0, found: [], corpus: null },
        ...{ runs: shared.count, failure: failed ?? { input: shared.get(), text } },
      });
    const watch = setInterval(() => {
      if (shared.count === seen && seen > 0) abort(`works on one input for more than ${STUCK_MS} ms`);
      seen = shared.count;
    }, STUCK_MS);
    worker.on('message', (message: Message) => {
      if ('failure' in message) failed = message.failure;
      else finish(message.report);
    });
    worker.once('error', (error: Error) => abort(error.stack ?? error.message));
  });
}

const emit = (message: Message): void => parentPort?.postMessage(message);

async function minimized({ fuzz }: FuzzTarget, failure: Failure): Promise<Failure> {
  const until = Date.now() + MINIMISE_MS;
  let { text } = failure;
  const fails = async (input: Uint8Array): Promise<boolean> => {
    if (Date.now() > until) return false;
    const ran = await runInput(fuzz, input);
    if (ran.failure === null || kindOf(ran.failure) !== kindOf(failure.text)) return false;
    text = ran.failure;
    return true;
  };
  return { input: await minimise(failure.input, fails, MINIMISE_TRIES_MAX), text };
}

async function explore(task: ThreadTask, shared: SharedInput): Promise<ThreadReport> {
  const { name, seed, cpuMs, input, distils } = task;
  const coverage = new Coverage();
  const loaded = await loadTarget(name);
  const fuzz = (each: Uint8Array) => {
    shared.put(each);
    return loaded.fuzz(each);
  };
  const target = { ...loaded, fuzz };
  // Discards what ran while loading.
  coverage.take();
  const reached = new Reached();
  const corpus = readCorpus(name);
  const first = input === null ? [...target.seeds, ...corpus] : [input];
  const reported = await new Explorer(target, coverage, reached, { seed, cpuMs, first }).run();
  if (reported.failure !== null) emit({ failure: reported.failure });
  const failure = reported.failure && (await minimized(target, reported.failure));
  const inputs = [...corpus, ...(input === null ? [] : [input]), ...reported.found];
  const stored = distils && failure === null ? fitting(await distil(target, coverage, inputs)) : null;
  return { ...reported, failure, functions: reached.functions, corpus: stored };
}

const { memory, ...task } = (workerData ?? {}) as ThreadTask & { memory?: SharedArrayBuffer };
if (!isMainThread && memory !== undefined)
  emit({ report: await explore(task as ThreadTask, new SharedInput(memory)) });
