import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { writeCorpus } from './engine/corpus.ts';
import type { Failure } from './engine/explore.ts';
import { readOptions } from './engine/options.ts';
import { removeScratch } from './engine/scratch.ts';
import { inThread } from './engine/thread.ts';
import type { WorkerReport } from './engine/worker.ts';

/** `npm run fuzz`: runs the fuzz targets. Options: `npm run fuzz -- --help`. */
const options = readOptions();
const say = (line: string): void => {
  // With --json, standard output contains only the result.
  if (options.asJson) console.error(line);
  else console.log(line);
};

/** The printed result of a target. */
type Row = Readonly<{
  target: string;
  runs: number;
  accepted: number;
  cpuSeconds: number;
  slowestMs: number;
  functions: number;
  found: number;
  corpus: number | null;
  finding: Readonly<{ text: string; input: string; repeat: string }> | null;
}>;

const artefacts = join(import.meta.dirname, '..', '..', 'test-artefacts', 'fuzz');
const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Saves the input. @returns the finding with the command that repeats it. */
function keepFailure(target: string, { input, text }: Failure): NonNullable<Row['finding']> {
  mkdirSync(artefacts, { recursive: true });
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const file = join(artefacts, `${target}-${digest}.bin`);
  writeFileSync(file, input);
  const shown = relative(process.cwd(), file);
  return { text, input: shown, repeat: `npm run fuzz -- --target ${target} --input ${shown}` };
}

function rowOf(target: string, report: WorkerReport): Row {
  const { runs, accepted, cpuMs, slowestMs, functions, found, corpus, failure } = report;
  return {
    ...{ target, runs, accepted, functions },
    cpuSeconds: rounded(cpuMs / 1_000),
    slowestMs: rounded(slowestMs),
    found: found.length,
    corpus: corpus?.length ?? null,
    finding: failure === null ? null : keepFailure(target, failure),
  };
}

function sayRow(row: Row, at: string): void {
  const { target, runs, accepted, cpuSeconds, slowestMs, functions, found, corpus, finding } = row;
  const share = runs === 0 ? 0 : Math.round((accepted / runs) * 100);
  say(
    `${finding === null ? 'ok  ' : 'FAIL'} ${at} ${target}: ${runs} inputs in ${cpuSeconds} s, ${share} % accepted, ` +
      `${functions} functions reached, ${found} new, slowest ${slowestMs} ms` +
      (corpus === null ? '' : `, corpus of ${corpus}`),
  );
  if (finding !== null) say(`${finding.text}\nto repeat: ${finding.repeat}`);
}

/** The seed of a target, independent of the other targets. */
const seedOf = (target: string): number =>
  createHash('sha256').update(`${options.seed} ${target}`).digest().readUInt32LE();

const { targets, minutes, seed, input, updates } = options;
const rows: Row[] = [];
const waiting = [...targets];

async function feedNext(): Promise<void> {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    const report = await inThread({
      ...{ name: target, seed: seedOf(target), distils: updates },
      cpuMs: input === null ? (minutes * 60_000) / targets.length : 0,
      input: input === null ? null : readFileSync(input),
    });
    if (report.corpus !== null) writeCorpus(target, report.corpus);
    const row = rowOf(target, report);
    rows.push(row);
    sayRow(row, `${rows.length}/${targets.length}`);
  }
}

const startedAt = performance.now();
say(`${targets.length} targets, ${minutes} minutes of processor time together, seed ${seed}`);
await Promise.all(Array.from({ length: options.atOnce }, feedNext));
removeScratch();

const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
const result = {
  seed,
  seconds: rounded((performance.now() - startedAt) / 1_000),
  cpuSeconds: rounded(sum(({ cpuSeconds }) => cpuSeconds)),
  runs: sum(({ runs }) => runs),
  found: sum(({ found }) => found),
  findings: rows.filter(({ finding }) => finding !== null).length,
  targets: rows.toSorted((a, b) => (a.target < b.target ? -1 : 1)),
};
if (options.asJson) console.log(JSON.stringify(result, null, 2));
say(
  `${result.runs} inputs in ${result.cpuSeconds} s of processor time (${result.seconds} s), ${result.found} new, ` +
    `${result.findings} findings`,
);
if (result.findings > 0) process.exitCode = 1;
