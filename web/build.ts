import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Builds the dashboard into web/dist: `npm run build:web`. With `--when-needed`, as installing and starting ask for it,
 * only where it is missing or older than its sources, and without failing: the service runs without its pages too.
 */

const root = import.meta.dirname;
const dist = join(root, 'dist');
const page = join(dist, 'dashboard.html');

/** What the bundle is made of, beside packages. */
const sources = ['src', 'public', 'dashboard.html', 'package.json', 'vite.config.ts', 'compress-assets.ts'];

function newest(path: string): number {
  const { mtimeMs } = statSync(path);
  if (!statSync(path).isDirectory()) return mtimeMs;
  return Math.max(mtimeMs, ...readdirSync(path).map((name) => newest(join(path, name))));
}

const isFresh = (): boolean =>
  existsSync(page) && statSync(page).mtimeMs >= Math.max(...sources.map((name) => newest(join(root, name))));

/** Builds beside what is there and puts it in its place at the end, so that a service never finds half of it. */
async function build(): Promise<void> {
  const { build: bundle } = await import('vite');
  const bundleDir = join(root, 'node_modules', `.dashboard-${process.pid}`);
  // A test may build it: the bundle is the published one either way.
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
  rmSync(dist, { recursive: true, force: true });
  renameSync(bundleDir, dist);
}

/** Builds where it is missing or older than its sources. @returns whether it was built. */
export async function buildWhenNeeded(): Promise<boolean> {
  if (isFresh()) return false;
  process.stderr.write('Building the dashboard (web/), once, for some seconds …\n');
  await build();
  return true;
}

async function buildOrGoOn(): Promise<void> {
  // An installation without the packages that build it: what was built elsewhere is served, or the page says how.
  if (!existsSync(join(root, 'src'))) return;
  try {
    await buildWhenNeeded();
  } catch (thrown) {
    const why = thrown instanceof Error ? thrown.message.split('\n')[0] : 'no reason was given';
    process.stderr.write(`The dashboard was not built (${why}): the service runs without its pages.\n`);
  }
}

if (import.meta.main) await (process.argv.includes('--when-needed') ? buildOrGoOn() : build());
