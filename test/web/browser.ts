import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Locator, type Page } from 'playwright-core';
import { eventually } from '../service/eventually.ts';

/** Path of the system's browser, unless the variable sets another. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why browser tests are skipped; null if they run. */
export const noBrowser = existsSync(CHROMIUM) ? null : `no browser at ${CHROMIUM}: install chromium`;

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** A page with its uncaught errors and console errors, such as CSP violations. */
export type WatchedPage = Readonly<{ page: Page; faults: readonly string[] }>;

/** Opens a page and records its errors. The timeout is long enough for a busy machine. */
export async function watchedPage(context: BrowserContext): Promise<WatchedPage> {
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  await page.clock.install();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // The tests include 4xx responses, and the browser logs each of them.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text);
  });
  return { page, faults };
}

/** Opens a page inside the dashboard, which is faster than loading the dashboard again. */
export async function openPage(page: Page, title: string, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(path)})`);
  await page.getByRole('heading', { name: title, level: 1, exact: true }).waitFor();
  await settled(page);
}

/** Waits until a refetch shows or removes an element. The clock of the page runs about ten times as fast meanwhile. */
export const refetched = (page: Page, element: Locator, isPresent = true): Promise<true> =>
  eventually(
    async () => {
      await page.clock.fastForward(1_000);
      return (await element.count()) > 0 === isPresent;
    },
    'the page shows the new state',
    { everyMs: 100 },
  );

export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}
