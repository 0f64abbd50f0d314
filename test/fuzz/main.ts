import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { Worker } from 'node:worker_threads';
import type { WorkerReport, WorkerTask } from './engine/worker.ts';

/**
 * `npm run fuzz [-- name…] [--seconds N] [--seed N]`: feeds every target of this folder (or the named ones)
 * random bytes and mutated seeds for N seconds each. A target may only reject; one that throws, or that works on
 * one input for more than five seconds, is reported with that input, and the exit code is 1.
 */
const STUCK_MS = 5_000;
const INPUT_MAX_BYTES = 64 * 1024;

const known = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts' && !file.endsWith('.test.ts'))
  .map((file) => file.slice(0, -3));

const USAGE = `Usage: npm run fuzz [-- NAME… --seconds N --seed N]

  --seconds N   how long each target is fed, default 2
  --seed N      repeats an earlier run, default from the clock

Targets: ${known.join(', ')}`;

/** Ends the program with exit code 2. */
function refuse(problem: string): never {
  console.error(`${problem}\n\n${USAGE}`);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        seconds: { type: 'string', default: '2' },
        seed: { type: 'string', default: String(Date.now() % 0xffff_ffff) },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
for (const name of ['seconds', 'seed'] as const) {
  if (!/^\d+(\.\d+)?$/.test(values[name])) refuse(`--${name} takes a number`);
}
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) refuse(`no such target: ${unknown.join(', ')}`);

type Outcome = WorkerReport & { input: Uint8Array };

function inputIn(shared: SharedArrayBuffer): Uint8Array {
  const length = Atomics.load(new Int32Array(shared, 0, 2), 1);
  return Uint8Array.from(new Uint8Array(shared, 8, length));
}

/** Runs one target in a thread of its own, so that one that hangs can be stopped. */
function runTarget(name: string): Promise<Outcome> {
  const shared = new SharedArrayBuffer(8 + INPUT_MAX_BYTES);
  const url = pathToFileURL(join(import.meta.dirname, `${name}.ts`)).href;
  const workerData: WorkerTask = { url, seed: Number(values.seed), seconds: Number(values.seconds), shared };
  const worker = new Worker(new URL('./engine/worker.ts', import.meta.url), { workerData });
  return new Promise((resolve) => {
    const finish = (report: WorkerReport): void => {
      clearInterval(watch);
      void worker.terminate();
      resolve({ ...report, input: inputIn(shared) });
    };
    let seen = 0;
    const watch = setInterval(() => {
      const runs = Atomics.load(new Int32Array(shared, 0, 2), 0);
      if (runs === seen && runs > 0)
        finish({ runs, accepted: 0, failure: 'works on one input for too long' });
      seen = runs;
    }, STUCK_MS);
    worker.once('message', finish);
    worker.once('error', (error: Error) =>
      finish({ runs: 0, accepted: 0, failure: error.stack ?? error.message }),
    );
  });
}

const targets = known.filter((name) => positionals.length === 0 || positionals.includes(name));
console.log(`seed ${values.seed}, ${values.seconds} s each`);
for (const name of targets) {
  const { runs, accepted, failure, input } = await runTarget(name);
  console.log(`${failure === null ? 'ok  ' : 'FAIL'} ${name}: ${runs} inputs, ${accepted} accepted`);
  if (failure === null) continue;
  process.exitCode = 1;
  console.error(`${failure}\ninput (hex): ${Buffer.from(input).toString('hex')}`);
}
