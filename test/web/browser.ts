import { existsSync } from 'node:fs';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';

/** Where the system's browser is; the variable says otherwise. */
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** Why tests with a browser are skipped; null: they are not. */
export const noBrowser = existsSync(CHROMIUM) ? null : `no browser at ${CHROMIUM}: install chromium`;

export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** A page with its uncaught errors and console errors, such as CSP violations. */
export type WatchedPage = Readonly<{ page: Page; faults: readonly string[] }>;

/** Opens a page and records its faults. The timeout is long enough for a busy machine. */
export async function watchedPage(context: BrowserContext): Promise<WatchedPage> {
  context.setDefaultTimeout(30_000);
  const page = await context.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    // Answers with 4xx are part of what is tested, and the browser logs each.
    if (message.type() === 'error' && !text.startsWith('Failed to load resource')) faults.push(text);
  });
  return { page, faults };
}

export async function settled(page: Page): Promise<void> {
  await page.locator('h1').first().waitFor();
  await page.locator('.skeleton').first().waitFor({ state: 'detached' });
}
