import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../cli/run-solway.ts';
import { temporaryFolder } from '../service/program.ts';
import { watchedPage } from './browser.ts';
import { checkPage } from './check-page.ts';
import { type Dashboard, operator } from './start-dashboard.ts';
import type { SignedInPage } from './traffic-pages.ts';

/** Configuration with open sign-up. */
export const openSignUp = '[accounts]\nsign_up = "open"\n';

const newPassword = 'another harbour at dusk';

const stranger = async ({ browser }: Dashboard): Promise<Page> =>
  (await watchedPage(await browser.newContext({ viewport: { width: 1360, height: 900 } }))).page;

/** Fills the form of a new account; the address is null if the form has no field for it. */
async function makeAccount(page: Page, name: string, email: string | null): Promise<void> {
  await page.getByLabel('Your name').fill(name);
  if (email !== null) await page.getByLabel('Email').fill(email);
  await page.getByLabel('Password').fill('one harbour for everybody');
  await page.getByRole('button', { name: 'Create account' }).click();
}

/**
 * Tests of the pages before sign-in, inside a describe that starts the program. `signed` is called before the first of
 * them; the last one changes the operator's password.
 */
export function describeSignInPages(signed: () => SignedInPage): void {
  describe('the pages before sign-in', () => {
    let dashboard: Dashboard;
    let page: Page;

    beforeAll(() => {
      ({ dashboard, page } = signed());
    });

    it('allow sign-up when it is open, then create a customer', async () => {
      const theirs = await stranger(dashboard);
      await theirs.goto(`${dashboard.url}/sign-in`);
      await checkPage(theirs, 'sign-in');
      await theirs.getByRole('link', { name: 'Sign up' }).click();
      await theirs.getByRole('heading', { name: 'Sign up' }).waitFor();
      await checkPage(theirs, 'sign-up');
      await makeAccount(theirs, 'Nora New', 'nora@example.com');
      await theirs.getByRole('heading', { name: 'Create a customer' }).waitFor();
      await checkPage(theirs, 'first-customer');
      await theirs.getByRole('textbox').fill('Nora and friends');
      await theirs.getByRole('button', { name: 'Create customer' }).click();
      await theirs.getByRole('region', { name: 'Getting started' }).waitFor();
      await checkPage(theirs, 'getting-started');
      await theirs.context().close();
    });

    it('let an invited user join once by link', async () => {
      await page.goto(`${dashboard.url}/team`);
      await page.getByRole('button', { name: 'Invite member' }).click();
      await page.getByLabel('Email').fill('ivan@example.com');
      await page.getByRole('radio', { name: /^Viewer/ }).check();
      await page.getByRole('button', { name: 'Invite', exact: true }).click();
      const dialog = page.getByRole('dialog');
      const link = (await dialog.locator('pre').textContent()) ?? '';
      await dialog.getByRole('button', { name: 'Done' }).click();
      const theirs = await stranger(dashboard);
      await theirs.goto(link);
      await theirs.getByText('You join Default as Viewer.').waitFor();
      expect(theirs.url()).not.toContain('token');
      await checkPage(theirs, 'invitation');
      await makeAccount(theirs, 'Ivan Invited', null);
      await theirs.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.reload();
      await page.getByRole('row', { name: /Ivan Invited.*Viewer/ }).waitFor();
      const late = await stranger(dashboard);
      await late.goto(link);
      await late.getByRole('alert').waitFor();
      await late.context().close();
      await theirs.context().close();
    });

    it('set a new password by link and end all earlier sessions', async () => {
      const theirs = await stranger(dashboard);
      await theirs.goto(`${dashboard.url}/reset-password`);
      await checkPage(theirs, 'reset-ask');
      const { dataDir, config } = dashboard.service;
      const where = ['--data-dir', dataDir, '--config', config, '--json'];
      const said = await runHere(temporaryFolder('reset'), [
        'operator',
        'password',
        operator.email,
        ...where,
      ]);
      const { hash } = new URL((JSON.parse(said.out) as { link: string }).link);
      await theirs.goto(`${dashboard.url}/reset-password${hash}`);
      await theirs.getByLabel('New password').waitFor();
      await checkPage(theirs, 'reset');
      await theirs.getByLabel('New password').fill(newPassword);
      await theirs.getByRole('button', { name: 'Set password' }).click();
      await theirs.getByRole('heading', { name: 'Sign in' }).waitFor();
      await theirs.getByLabel('Email').fill(operator.email);
      await theirs.getByLabel('Password').fill(newPassword);
      await theirs.getByRole('button', { name: 'Sign in', exact: true }).click();
      await theirs.getByRole('heading', { name: 'Home', level: 1 }).waitFor();
      await page.goto(`${dashboard.url}/team`);
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await theirs.context().close();
    });
  });
}
