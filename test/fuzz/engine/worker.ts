import { parentPort, workerData } from 'node:worker_threads';
import { createRandom, nextInput } from './mutate.ts';
import { targetOf } from './target.ts';

/** What the runner hands over. `shared` holds: runs, length of the input, then the input. */
export type WorkerTask = Readonly<{ url: string; seed: number; seconds: number; shared: SharedArrayBuffer }>;

export type WorkerReport = Readonly<{ runs: number; accepted: number; failure: string | null }>;

const HEAD_BYTES = 8;

async function run(task: WorkerTask): Promise<WorkerReport> {
  const { fuzz, seeds } = targetOf(await import(task.url));
  const random = createRandom(task.seed);
  const [head, held] = [new Int32Array(task.shared, 0, 2), new Uint8Array(task.shared, HEAD_BYTES)];
  const until = Date.now() + task.seconds * 1000;
  let accepted = 0;
  let runs = 0;
  while (Date.now() < until) {
    const input = runs < seeds.length ? (seeds[runs] ?? new Uint8Array()) : nextInput(seeds, random);
    held.set(input.subarray(0, held.length));
    Atomics.store(head, 1, Math.min(input.length, held.length));
    Atomics.store(head, 0, ++runs);
    try {
      if ((await fuzz(input)) === true) accepted++;
    } catch (error) {
      return {
        runs,
        accepted,
        failure: error instanceof Error ? (error.stack ?? error.message) : String(error),
      };
    }
  }
  return { runs, accepted, failure: null };
}

parentPort?.postMessage(await run(workerData as WorkerTask));
