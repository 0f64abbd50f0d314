import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { contract } from '../../src/control/api/contract/contract.ts';
import type { ApiContext } from '../../src/control/api/handler.ts';
import { usageHandlers } from '../../src/control/api/handlers/usage.ts';
import type { ApiServices } from '../../src/control/api/services.ts';
import { openDatabase } from '../../src/control/database/open.ts';
import type { Store } from '../../src/control/database/store.ts';
import { noBrowser } from '../../test/web/browser.ts';
import { publish, type Setting, type Spread, settingOf } from '../results.ts';
import { fill, ROWS } from './fill.ts';
import { type FirstPaint, measureFirstPaint } from './first-paint.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

const SUMMARY = 'GET /customers/{customer}/summary';
const ranges = { '1 h': HOUR_MS, '24 h': DAY_MS, '7 d': 7 * DAY_MS, '30 d': 30 * DAY_MS } as const;

type Options = Readonly<{ rounds: number; json: boolean; record: boolean }>;

const percentile = (sorted: readonly number[], share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;

async function time(store: Store, now: number, lengthMs: number, rounds: number): Promise<number[]> {
  const services = { store, now: () => now, endpoints: [] } as unknown as ApiServices;
  const summary = usageHandlers(services)[SUMMARY];
  const query = contract[SUMMARY].query.parse({ from: now - lengthMs, to: now });
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await summary({ path: { customer: 'house' }, query, body: null }, {} as ApiContext);
    times.push(performance.now() - startedAt);
  }
  return times.sort((a, b) => a - b);
}

type Measured = Readonly<{ range: string; p50: number; max: number }>;

const tenths = (ms: number): number => Math.round(ms * 10) / 10;

/** Measures the query of Home by time range on the embedded database. */
async function measureQueries(rounds: number): Promise<Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'solway-bench-home-'));
  const store = await openDatabase({ file: join(folder, 'home.db') });
  const now = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS + 30_000;
  try {
    await fill(store, now);
    const measured: Measured[] = [];
    for (const [range, lengthMs] of Object.entries(ranges)) {
      const times = await time(store, now, lengthMs, rounds);
      measured.push({ range, p50: tenths(percentile(times, 0.5)), max: tenths(percentile(times, 1)) });
    }
    return measured;
  } finally {
    await store.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

type Summary = Setting &
  Readonly<{ rows: number; measured: readonly Measured[]; painted: FirstPaint | null }>;

const spreadSummary = ({ median, max }: Spread): string =>
  `median ${Math.round(median)}  max ${Math.round(max)}`;

function render({ measured, painted }: Summary): string {
  const title = `Home with ${ROWS.toLocaleString('en')} rows of usage, embedded database, milliseconds`;
  const ofRange = ({ range, p50, max }: Measured): string => `  ${range.padEnd(6)} p50 ${p50}  max ${max}`;
  const inBrowser =
    painted === null
      ? [`  ${noBrowser}`]
      : [
          `  first paint ${spreadSummary(painted.firstPaintMs)}`,
          `  numbers     ${spreadSummary(painted.numbersMs)}`,
        ];
  const lines = ['queries', ...measured.map(ofRange), 'in a browser with an empty cache', ...inBrowser];
  return `${[title, ...lines].join('\n')}\n`;
}

/** Measures dashboard Home with ten million usage rows: its query, and first paint in a browser. */
export async function runDashboardBench({ rounds, ...options }: Options): Promise<void> {
  const times = Math.max(5, rounds);
  process.stderr.write('filling a database …\n');
  const measured = await measureQueries(times);
  process.stderr.write('filling the database of a service …\n');
  const painted = noBrowser === null ? await measureFirstPaint(times) : null;
  const summary: Summary = {
    ...settingOf(`npm run bench -- home --rounds ${rounds}`),
    rows: ROWS,
    measured,
    painted,
  };
  publish('home', summary, options, render);
}
