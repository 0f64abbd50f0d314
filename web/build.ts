import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Builds web/dist. With `--when-needed`, only if missing or outdated, and failures are ignored. */

const root = import.meta.dirname;
const dist = join(root, 'dist');
const page = join(dist, 'dashboard.html');

/** Bundle sources. */
const sources = [
  'src',
  'public',
  '../docs',
  'dashboard.html',
  'docs.html',
  'docs-pages.ts',
  'package.json',
  'vite.config.ts',
  'compress-assets.ts',
];

function newest(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const isFresh = (): boolean =>
  existsSync(page) && statSync(page).mtimeMs >= Math.max(...sources.map((name) => newest(join(root, name))));

/** Builds into a temporary directory and renames it, so that the service never sees a partial build. */
async function build(): Promise<void> {
  const { build: bundle } = await import('vite');
  const bundleDir = join(root, 'node_modules', `.dashboard-${process.pid}`);
  // Tests set NODE_ENV; always build for production.
  const before = process.env.NODE_ENV;
  process.env.NODE_ENV = 'production';
  try {
    await bundle({
      root,
      mode: 'production',
      logLevel: 'error',
      build: { outDir: bundleDir, emptyOutDir: true },
    });
  } finally {
    if (before === undefined) delete process.env.NODE_ENV;
    else process.env.NODE_ENV = before;
  }
  replaceFolder(dist, bundleDir);
}

const REPLACE_TRIES = 5;

/** Only renames, which are atomic: another process may put its build in the same place meanwhile. */
function replaceFolder(folder: string, by: string): void {
  const replaced = `${by}.replaced`;
  for (let tries = 1; ; tries++) {
    try {
      if (existsSync(folder)) renameSync(folder, replaced);
      renameSync(by, folder);
      break;
    } catch (thrown) {
      if (tries === REPLACE_TRIES) throw thrown;
    } finally {
      rmSync(replaced, { recursive: true, force: true });
    }
  }
}

/** @returns whether a build ran. */
export async function buildWhenNeeded(): Promise<boolean> {
  if (isFresh()) return false;
  process.stderr.write('Building the dashboard (web/) …\n');
  await build();
  return true;
}

async function buildOrGoOn(): Promise<void> {
  // Without the build packages, an existing build is served.
  if (!existsSync(join(root, 'src'))) return;
  try {
    await buildWhenNeeded();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.split('\n')[0] : 'no reason was given';
    process.stderr.write(`The dashboard was not built (${why}): the service runs without its pages.\n`);
  }
}

if (import.meta.main) await (process.argv.includes('--when-needed') ? buildOrGoOn() : build());
