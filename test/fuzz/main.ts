import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { readOptions, sayUnless } from '../programs/options.ts';
import { writeCorpus } from './engine/corpus.ts';
import type { Failure } from './engine/explore.ts';
import { removeScratch } from './engine/scratch.ts';
import { targetNames } from './engine/target-files.ts';
import { inThread, type ThreadReport } from './engine/thread.ts';

const USAGE = `Usage: npm run fuzz [-- TARGET… --minutes N --seed N]

Runs decoders of untrusted bytes on mutated seeds, mutated inputs of test/fuzz/corpus, and random inputs. An input
that makes a decoder throw, hang or fill the memory is minimised, written to test-artefacts/fuzz and printed with the
command that repeats it; the exit code is then 1.

  --minutes N    processor time of all targets together, default 10, in equal shares
  --target NAME  run this target, like TARGET; repeatable
  --seed N       seed of an earlier run, default from the clock
  --at-once N    targets to run in parallel, default 2
  --input FILE   run one target on this input only
  --update       write inputs with new coverage to test/fuzz/corpus
  --json         print the result as JSON

Targets: ${targetNames.join(', ')}
`;

const options = readOptions(
  USAGE,
  {
    ...{ target: [] as readonly string[], minutes: 10, seed: Date.now() % 0xffff_ffff, 'at-once': 2 },
    ...{ input: '', update: false, json: false },
  },
  { 'at-once': [1, 64] },
);
const { minutes, seed, input, update, target: named } = options;
const unknown = named.filter((name) => !targetNames.includes(name));
const isUnclear = input !== '' && named.length !== 1;
if (unknown.length > 0 || isUnclear) {
  const problem = isUnclear ? '--input goes with one --target' : `no such target: ${unknown.join(', ')}`;
  process.stderr.write(`${problem}\n\n${USAGE}`);
  process.exit(2);
}
const targets = named.length === 0 ? targetNames : [...new Set(named)];
const say = sayUnless(options.json);

const artefacts = join(import.meta.dirname, '..', '..', 'test-artefacts', 'fuzz');
const rounded = (value: number): number => Math.round(value * 10) / 10;

/** Saves the input. @returns the finding with the command that repeats it. */
function keepFailure(target: string, failure: Failure) {
  mkdirSync(artefacts, { recursive: true });
  const digest = createHash('sha256').update(failure.input).digest('hex').slice(0, 12);
  const file = join(artefacts, `${target}-${digest}.bin`);
  writeFileSync(file, failure.input);
  const shown = relative(process.cwd(), file);
  return { text: failure.text, input: shown, repeat: `npm run fuzz -- --target ${target} --input ${shown}` };
}

function rowOf(target: string, report: ThreadReport) {
  const { runs, accepted, cpuMs, slowestMs, functions, found, corpus, failure } = report;
  return {
    ...{ target, runs, accepted, functions, found: found.length, corpus: corpus?.length ?? null },
    ...{ cpuSeconds: rounded(cpuMs / 1_000), slowestMs: rounded(slowestMs) },
    finding: failure === null ? null : keepFailure(target, failure),
  };
}

type Row = ReturnType<typeof rowOf>;

function sayRow(row: Row, at: string): void {
  const { target, runs, accepted, cpuSeconds, slowestMs, functions, found, finding } = row;
  const share = runs === 0 ? 0 : Math.round((accepted / runs) * 100);
  say(
    `${finding === null ? 'ok  ' : 'FAIL'} ${at} ${target}: ${runs} inputs in ${cpuSeconds} s, ${share} % accepted, ` +
      `${functions} functions reached, ${found} new, slowest ${slowestMs} ms`,
  );
  if (finding !== null) say(`${finding.text}\nto repeat: ${finding.repeat}`);
}

/** The seed of a target, independent of the other targets. */
const seedOf = (target: string): number =>
  createHash('sha256').update(`${seed} ${target}`).digest().readUInt32LE();

const rows: Row[] = [];
const waiting = [...targets];

async function feedNext(): Promise<void> {
  for (let target = waiting.shift(); target !== undefined; target = waiting.shift()) {
    const report = await inThread({
      ...{ name: target, seed: seedOf(target), distils: update },
      cpuMs: input === '' ? (minutes * 60_000) / targets.length : 0,
      input: input === '' ? null : readFileSync(input),
    });
    if (report.corpus !== null) writeCorpus(target, report.corpus);
    const row = rowOf(target, report);
    rows.push(row);
    sayRow(row, `${rows.length}/${targets.length}`);
  }
}

const startedAt = performance.now();
say(`${targets.length} targets, ${minutes} minutes of processor time together, seed ${seed}`);
await Promise.all(Array.from({ length: options['at-once'] }, feedNext));
removeScratch();

const sum = (of: (row: Row) => number): number => rows.reduce((total, row) => total + of(row), 0);
const result = {
  ...{ seed, seconds: rounded((performance.now() - startedAt) / 1_000) },
  cpuSeconds: rounded(sum(({ cpuSeconds }) => cpuSeconds)),
  runs: sum(({ runs }) => runs),
  found: sum(({ found }) => found),
  findings: rows.filter(({ finding }) => finding !== null).length,
  targets: rows.toSorted((a, b) => (a.target < b.target ? -1 : 1)),
};
if (options.json) process.stdout.write(`${JSON.stringify(result, null, 2)}\n`);
const { runs, cpuSeconds, seconds, found, findings } = result;
say(`${runs} inputs in ${cpuSeconds} s of processor time (${seconds} s), ${found} new, ${findings} findings`);
if (findings > 0) process.exitCode = 1;
