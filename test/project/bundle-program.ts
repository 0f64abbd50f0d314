import { existsSync, readdirSync, renameSync, rmSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Bundles the program for the tests that start it: the more than 2,000 modules of the sources and their packages take
 * most of the processor time of a start. Inside the repository, so that packages are found.
 */
const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'test-artefacts', 'program');

/** Path of the bundled `src/cli/main.ts`. */
export const BUNDLED_PROGRAM: string = join(folder, 'main.js');

/** Packages with native code, or with files that they read from their own folder. */
const EXTERNAL = [/^better-sqlite3/, /^litesvm/, /^pino/, 'pg-native', 'bufferutil', 'utf-8-validate'];

function newest(path: string): number {
  const stats = statSync(path);
  if (!stats.isDirectory()) return stats.mtimeMs;
  return Math.max(stats.mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const SOURCES = ['src', 'packages/localnet/src', 'package-lock.json', 'test/project/bundle-program.ts'];

const isFresh = (): boolean =>
  existsSync(BUNDLED_PROGRAM) &&
  statSync(BUNDLED_PROGRAM).mtimeMs >= Math.max(...SOURCES.map((path) => newest(join(root, path))));

/** Runs before the tests. Renames the result, so that programs of another run never see a part of it. */
export async function setup(): Promise<void> {
  if (isFresh()) return;
  const startedAt = new Date();
  const { rolldown } = await import('rolldown');
  const bundle = await rolldown({
    input: {
      main: join(root, 'src/cli/main.ts'),
      'sqlite-thread': join(root, 'src/control/database/sqlite-thread.ts'),
    },
    platform: 'node',
    external: EXTERNAL,
    logLevel: 'silent',
  });
  const beside = `${folder}.${process.pid}`;
  await bundle.write({ dir: beside, format: 'esm', keepNames: true });
  await bundle.close();
  // A source that was changed meanwhile is newer.
  utimesSync(join(beside, 'main.js'), startedAt, startedAt);
  const replaced = `${beside}.replaced`;
  if (existsSync(folder)) renameSync(folder, replaced);
  renameSync(beside, folder);
  rmSync(replaced, { recursive: true, force: true });
}
