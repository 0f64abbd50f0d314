import { parentPort, workerData } from 'node:worker_threads';
import { fitting, readCorpus } from './corpus.ts';
import { Coverage, Reached } from './coverage.ts';
import { distil } from './distil.ts';
import { type Exploration, Explorer, type Failure } from './explore.ts';
import { minimise } from './minimise.ts';
import { kindOf, runInput } from './run-input.ts';
import { SharedInput } from './shared-input.ts';
import type { Fuzz, FuzzTarget } from './target.ts';
import { loadTarget } from './target-files.ts';

/** The task of a thread. */
export type WorkerTask = Readonly<{
  name: string;
  seed: number;
  /** Processor time to spend. */
  cpuMs: number;
  /** The only input to run, if not null. */
  input: Uint8Array | null;
  /** Reports a new corpus at the end. */
  distils: boolean;
  /** A `SharedInput`. */
  memory: SharedArrayBuffer;
}>;

/** `functions`: how many of the product ran. `corpus`: null unless requested. */
export type WorkerReport = Exploration &
  Readonly<{ functions: number; corpus: readonly Uint8Array[] | null }>;

/** A failure as soon as it is found, then the report with the minimised input. */
export type WorkerMessage =
  | Readonly<{ kind: 'failed'; failure: Failure }>
  | Readonly<{ kind: 'done'; report: WorkerReport }>;

const MINIMISE_TRIES_MAX = 2_000;
const MINIMISE_MS = 10_000;

const emit = (message: WorkerMessage): void => parentPort?.postMessage(message);

/** The target, storing each input in shared memory first. */
function seen(target: FuzzTarget, shared: SharedInput): FuzzTarget {
  const fuzz: Fuzz = (input) => {
    shared.put(input);
    return target.fuzz(input);
  };
  return { ...target, fuzz };
}

/** The failure with a smaller input that fails the same way. */
async function smaller({ fuzz }: FuzzTarget, failure: Failure): Promise<Failure> {
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

async function explore({ name, seed, cpuMs, input, distils, memory }: WorkerTask): Promise<WorkerReport> {
  const coverage = new Coverage();
  const target = seen(await loadTarget(name), new SharedInput(memory));
  // Discards what ran while loading.
  coverage.take();
  const reached = new Reached();
  const corpus = readCorpus(name);
  const first = input === null ? [...target.seeds, ...corpus] : [input];
  const reported = await new Explorer(target, coverage, reached, { seed, cpuMs, first }).run();
  if (reported.failure !== null) emit({ kind: 'failed', failure: reported.failure });
  const failure = reported.failure && (await smaller(target, reported.failure));
  const inputs = [...corpus, ...(input === null ? [] : [input]), ...reported.found];
  const stored = distils && failure === null ? fitting(await distil(target, coverage, inputs)) : null;
  return { ...reported, failure, functions: reached.functions, corpus: stored };
}

emit({ kind: 'done', report: await explore(workerData as WorkerTask) });
