import { Worker } from 'node:worker_threads';
import type { Failure } from './explore.ts';
import { SharedInput } from './shared-input.ts';
import type { WorkerMessage, WorkerReport, WorkerTask } from './worker.ts';

/** Limits of time per input, generous for a busy machine, and of memory. */
const STUCK_MS = 15_000;
const HEAP_MAX_MB = 768;

/** The report for a thread that did not report. */
const noReports = {
  ...{ accepted: 0, cpuMs: 0, slowestMs: 0, functions: 0, found: [], corpus: null },
} as const;

/** Runs a task in its own thread, so that a target that hangs or fills the memory can be stopped. */
export function inThread(task: Omit<WorkerTask, 'memory'>): Promise<WorkerReport> {
  const shared = new SharedInput();
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { ...task, memory: shared.memory } satisfies WorkerTask,
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB },
  });
  return new Promise((resolve) => {
    let failed: Failure | null = null;
    const finish = (report: WorkerReport): void => {
      clearInterval(watch);
      void worker.terminate();
      resolve(report);
    };
    const breakOff = (text: string): void => {
      const failure = failed ?? { input: shared.get(), text };
      finish({ ...noReports, runs: shared.count, failure });
    };
    let seen = 0;
    const watch = setInterval(() => {
      if (shared.count === seen && seen > 0) breakOff(`works on one input for more than ${STUCK_MS} ms`);
      seen = shared.count;
    }, STUCK_MS);
    worker.on('message', (message: WorkerMessage) => {
      if (message.kind === 'failed') failed = message.failure;
      else finish(message.report);
    });
    worker.once('error', (error: Error) => breakOff(error.stack ?? error.message));
  });
}
