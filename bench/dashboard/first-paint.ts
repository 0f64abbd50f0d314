import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { openDatabase } from '../../src/control/database/open.ts';
import { startService } from '../../test/service/start-service.ts';
import { setUp, startDashboard } from '../../test/web/start-dashboard.ts';
import { type Spread, spread } from '../results.ts';
import { fill } from './fill.ts';

/** Load times of Home with an empty browser cache, in milliseconds since navigation. */
export type FirstPaint = Readonly<{
  /** First contentful paint. */
  firstPaintMs: Spread;
  /** Until the numbers are visible. */
  numbersMs: Spread;
}>;

/** Loads Home in a new page without cache. */
async function load(context: BrowserContext, url: string): Promise<{ paint: number; numbers: number }> {
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Network.setCacheDisabled', { cacheDisabled: true });
  await page.goto(url);
  await page.locator('.tile-value').first().waitFor();
  const numbers = Number(await page.evaluate('performance.now()'));
  const paint = Number(
    await page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"),
  );
  const visible = await page.locator('.tile-value').first().textContent();
  await page.close();
  if (visible === null || !/[1-9]/.test(visible)) throw new Error(`Home shows ${visible} requests`);
  return { paint, numbers };
}

/** Starts the program on a database with ten million rows and loads Home repeatedly. */
export async function measureFirstPaint(rounds: number): Promise<FirstPaint> {
  const dashboard = await startDashboard();
  try {
    const { page } = await setUp(dashboard);
    await dashboard.service.stop();
    const { dataDir } = dashboard.service;
    const store = await openDatabase({ file: join(dataDir, 'solway.db') });
    await fill(store, Date.now());
    await store.close();
    const service = await startService({ dataDir });
    const loads = [];
    for (let round = 0; round < rounds; round++) loads.push(await load(page.context(), service.ready.url));
    await service.stop();
    return {
      firstPaintMs: spread(loads.map(({ paint }) => paint)),
      numbersMs: spread(loads.map(({ numbers }) => numbers)),
    };
  } finally {
    await dashboard.stop();
  }
}
