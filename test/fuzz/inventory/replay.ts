import { parentPort } from 'node:worker_threads';
import { readCorpus } from '../engine/corpus.ts';
import { Coverage } from '../engine/coverage.ts';
import { runInput } from '../engine/run-input.ts';
import { loadTarget, targetNames } from '../engine/target-files.ts';

export type Replayed = Readonly<{
  name: string;
  ran: ReadonlyMap<string, ReadonlySet<string>>;
  failures: readonly string[];
}>;

async function replay(name: string, coverage: Coverage): Promise<Replayed> {
  const { fuzz, seeds } = await loadTarget(name);
  // Discards what ran while loading.
  coverage.take();
  const failures: string[] = [];
  for (const input of [...seeds, ...readCorpus(name)]) {
    const { failure } = await runInput(fuzz, input);
    if (failure !== null) failures.push(`${Buffer.from(input).toString('base64')}: ${failure}`);
  }
  const ran = new Map<string, Set<string>>();
  for (const one of coverage.take()) ran.set(one.file, (ran.get(one.file) ?? new Set()).add(one.name));
  return { name, ran, failures };
}

const coverage = new Coverage(false);
const replayed: Replayed[] = [];
for (const name of targetNames) replayed.push(await replay(name, coverage));
parentPort?.postMessage(replayed);
