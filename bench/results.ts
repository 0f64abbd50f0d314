import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

export type Spread = Readonly<{ median: number; min: number; max: number }>;

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return { median: middle, min: sorted[0] ?? 0, max: sorted.at(-1) ?? 0 };
}

/** Environment of a result, to reproduce it. */
export type Setting = Readonly<{ command: string; commit: string; node: string; machine: string }>;

function commit(): string {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      cwd: import.meta.dirname,
    }).trim();
  } catch {
    return 'unknown';
  }
}

export const settingOf = (command: string): Setting => ({
  command,
  commit: commit(),
  node: process.version,
  machine: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
});

/** Stores a result. @returns its path in the project. */
function record(name: string, summary: Setting): string {
  const file = join(
    'bench',
    'results',
    `${name}-${new Date().toISOString().slice(0, 10)}-${summary.commit}.json`,
  );
  const target = join(import.meta.dirname, '..', file);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, `${JSON.stringify(summary, null, 2)}\n`);
  return file;
}

export type BenchOptions = Readonly<{ rounds: number; seconds: number; record: boolean; json: boolean }>;

/** Prints a result, and stores it if requested. */
export function publish<Summary extends Setting>(
  name: string,
  summary: Summary,
  options: Pick<BenchOptions, 'json' | 'record'>,
  render: (summary: Summary) => string,
): void {
  process.stdout.write(options.json ? `${JSON.stringify(summary, null, 2)}\n` : render(summary));
  if (options.record) process.stderr.write(`recorded in ${record(name, summary)}\n`);
}
