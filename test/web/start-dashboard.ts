import type { Browser, Page } from 'playwright-core';
import { buildWhenNeeded } from '../../web/build.ts';
import { type RunningService, startService } from '../service/start-service.ts';
import { startBrowser, type WatchedPage, watchedPage } from './browser.ts';
import { checkPage } from './check-page.ts';

export const operator = {
  name: 'Olga Operator',
  email: 'olga@example.com',
  password: 'a quiet harbour at noon',
} as const;

export type Dashboard = Readonly<{
  service: RunningService;
  browser: Browser;
  url: string;
  setupUrl: string;
  stop(): Promise<void>;
}>;

export async function startDashboard(configuration?: string): Promise<Dashboard> {
  await buildWhenNeeded();
  const [service, browser] = await Promise.all([
    startService(configuration === undefined ? {} : { configuration }),
    startBrowser(),
  ]);
  const { url, setupUrl } = service.ready as typeof service.ready & { setupUrl: string };
  const stop = async (): Promise<void> => {
    await browser.close();
    await service.stop();
  };
  return { service, browser, url, setupUrl, stop };
}

/** Creates the operator account from the setup link in the browser, and stays signed in. */
export async function setUp({ browser, setupUrl }: Dashboard): Promise<WatchedPage> {
  const watched = await watchedPage(await browser.newContext({ viewport: { width: 1360, height: 900 } }));
  const { page } = watched;
  await page.goto(setupUrl);
  await page.locator('[name="name"]:focus').waitFor();
  await checkPage(page, 'setup');
  await page.getByLabel('Your name').fill(operator.name);
  await page.getByLabel('Email').fill(operator.email);
  await page.getByLabel('Password').fill('too short');
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByText('Use at least 10 characters (currently 9).').waitFor();
  await page.getByLabel('Password').fill(operator.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
  return watched;
}

export const displayedKey = async (page: Page): Promise<string> =>
  (await page.getByLabel('API key', { exact: true }).textContent()) ?? '';
