import { readFile } from 'node:fs/promises';
import { Keypair, SystemProgram, Transaction } from '@solana/web3.js';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { encodeBase58 } from '../../src/solana/base58.ts';
import { eventually } from '../service/eventually.ts';
import { createRpcClient, type TestRpcClient } from '../service/rpc-client.ts';
import { SocketClient } from '../service/socket-client.ts';
import { openPage, refetched } from './browser.ts';
import { checkPage } from './check-page.ts';
import type { Dashboard } from './start-dashboard.ts';

/** The program, and a page with a signed-in operator. */
export type SignedInPage = Readonly<{ dashboard: Dashboard; page: Page }>;

type CreatedKey = Readonly<{ secret: string; key: Readonly<{ id: string }> }>;

const bodyOf = (method: string, params: readonly unknown[] = []): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** With the others, more than a list shows at first. */
const seldomMethods = [
  ...['getBlockHeight', 'getClusterNodes', 'getEpochInfo', 'getEpochSchedule', 'getFirstAvailableBlock'],
  ...['getGenesisHash', 'getIdentity', 'getInflationGovernor', 'getInflationRate', 'getLeaderSchedule'],
  ...['getMaxRetransmitSlot', 'getMaxShredInsertSlot', 'getRecentPerformanceSamples', 'getSlotLeader'],
  ...['getRecentPrioritizationFees', 'getStakeMinimumDelegation', 'getSupply', 'getTransactionCount'],
  ...['getVersion', 'getVoteAccounts', 'minimumLedgerSlot'],
];

/** Creates a key as the dashboard does, with the session of the page. */
async function createKey(
  { page }: SignedInPage,
  fields: Readonly<Record<string, unknown>>,
): Promise<CreatedKey> {
  const init = {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-solway': '1' },
    body: JSON.stringify({ product: 'rpc', ...fields }),
  };
  const requested = `fetch('/api/v1/customers/house/keys', ${JSON.stringify(init)}).then((answer) => answer.json())`;
  return (await page.evaluate(requested)) as CreatedKey;
}

/** Waits until the service accepts a new key, which takes at most a second. */
const untilAccepted = (gateway: TestRpcClient): Promise<true> =>
  eventually(async () => (await gateway.post(bodyOf('getHealth'))).status === 200, 'the key is let in');

/** Sends a transfer that succeeds, or one with an unknown blockhash. @returns its signature. */
async function sendTransfer(gateway: TestRpcClient, unknownBlockhash?: string): Promise<string> {
  const payer = Keypair.generate();
  const result = async (method: string, params: readonly unknown[]): Promise<unknown> =>
    (JSON.parse((await gateway.post(bodyOf(method, params))).text) as { result: unknown }).result;
  await result('requestAirdrop', [payer.publicKey.toBase58(), 1_000_000_000]);
  const balance = async () => (await result('getBalance', [payer.publicKey.toBase58()])) as { value: number };
  await eventually(async () => (await balance()).value > 0, 'the airdrop lands');
  const latest = (await result('getLatestBlockhash', [])) as { value: { blockhash: string } };
  const transfer = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: Keypair.generate().publicKey,
    lamports: 1_000_000,
  });
  const recentBlockhash = unknownBlockhash ?? latest.value.blockhash;
  const transaction = new Transaction({ recentBlockhash, feePayer: payer.publicKey });
  transaction.add(transfer).sign(payer);
  const bytes = transaction.serialize().toString('base64');
  await result('sendTransaction', [bytes, { encoding: 'base64' }]);
  return encodeBase58(transaction.signature!);
}

/** Configuration that logs every request, and writes what the pages show without delay. */
export const promptPages = `
[localnet]
slot_ms = 200
[shreds]
udp = "auto"
[request_log]
per_second = 10_000
[internal.request_log]
flush_interval_ms = 50
[internal.keys]
usage_flush_interval_ms = 50
[internal.node_history]
sample_interval_ms = 100
flush_interval_ms = 100
[internal.gateways]
heartbeat_ms = 100
check_interval_ms = 50
`;

/**
 * Tests the pages about calls, sockets and nodes. Call it in a describe that starts the program; `signedIn` runs
 * before the first test.
 */
export function describeTrafficPages(signedIn: () => SignedInPage): void {
  describe('the traffic pages', () => {
    let now: SignedInPage;
    let page: Page;
    let created: CreatedKey;
    let gateway: TestRpcClient;
    let signature = '';
    let rejected = '';

    beforeAll(async () => {
      now = signedIn();
      page = now.page;
      created = await createKey(now, { name: 'traffic', logsBodies: true });
      gateway = createRpcClient(now.dashboard.service.ready.rpcUrl, created.secret);
      await untilAccepted(gateway);
      signature = await sendTransfer(gateway);
      rejected = await sendTransfer(gateway, Keypair.generate().publicKey.toBase58());
      for (let index = 0; index < 12; index++) await gateway.post(bodyOf('getSlot'));
      await gateway.post(bodyOf('getAccountInfo', ['nonsense']));
      await gateway.post(bodyOf('getNothing'));
      await gateway.post(`[${seldomMethods.map((method) => bodyOf(method))}]`);
    });

    const open = (title: string, path: string): Promise<void> => openPage(page, title, path);
    const cell = (text: string) => page.getByRole('cell', { name: text, exact: true });

    it('show the calls of a key as table, chart and CSV', async () => {
      await open('Usage and quota', `/usage?range=15m&key=${created.key.id}`);
      await refetched(page, page.getByRole('row', { name: /^getSlot 12 100%/ }));
      await page.getByText('Showing the top 20 by requests').waitFor();
      await page.getByRole('button', { name: /^Show as table ?: Requests by method$/ }).click();
      const chart = page.getByRole('figure', { name: 'Requests by method' });
      await chart.getByRole('columnheader', { name: 'getSlot' }).waitFor();
      await page.getByText('Export').click();
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Download CSV' }).click();
      const file = await readFile(await (await download).path(), 'utf8');
      expect(file).toContain('getSlot');
      await checkPage(page, 'usage');
      await open('Performance', '/performance?range=15m');
      await page.locator('.u-over').first().waitFor();
      await checkPage(page, 'performance');
    });

    it('show the slowest method of all customers two clicks from Home', async () => {
      await open('Home', '/?range=15m');
      await page.getByRole('link', { name: 'All customers', exact: true }).click();
      const methods = page.getByRole('region', { name: 'Methods', exact: true });
      await methods.getByText('Showing the top 20.').waitFor();
      await methods.getByRole('button', { name: /^Show more ?: Methods$/ }).click();
      await methods.getByRole('row', { name: /^minimumLedgerSlot 1/ }).waitFor();
      await methods.getByRole('radio', { name: 'p95' }).check();
      await methods.getByRole('row', { name: /^getSlot \d/ }).waitFor();
      const codes = page.getByRole('region', { name: 'Errors by code' });
      await codes.getByRole('row', { name: /^-32602 \d/ }).waitFor();
      await page.getByLabel('Node', { exact: true }).check();
      await page.getByRole('link', { name: 'embedded-ledger' }).waitFor();
      await page.getByLabel('Gateway', { exact: true }).check();
      await checkPage(page, 'fleet');
      await methods.getByRole('button', { name: 'getSlot', exact: true }).click();
      await page.getByRole('button', { name: 'Remove filter: method getSlot' }).click();
      await codes.getByRole('button', { name: '-32602', exact: true }).click();
      await methods.getByRole('row', { name: /^getSlot \d/ }).waitFor({ state: 'detached' });
      await checkPage(page, 'fleet with a code');
      const customers = page.getByRole('region', { name: 'Customers', exact: true });
      await customers.getByRole('link', { name: 'Default' }).click();
      await page.getByRole('button', { name: 'Remove filter: code -32602' }).waitFor();
      await page
        .getByRole('button', { name: /Open getAccountInfo$/ })
        .first()
        .waitFor();
    });

    it('lead from Home to the reason of a failed request in three clicks', async () => {
      await open('Home', `/?range=15m&key=${created.key.id}`);
      await page
        .getByRole('region', { name: 'Errors by outcome' })
        .getByRole('link', { name: 'Errors' })
        .click();
      await page.getByRole('link', { name: '-32602', exact: true }).click();
      await page
        .getByRole('button', { name: /Open getAccountInfo$/ })
        .first()
        .click();
      const drawer = page.getByRole('dialog', { name: 'getAccountInfo' });
      await drawer.getByText(/^Invalid param/).waitFor();
      await drawer.getByRole('row', { name: /^Upstream ?embedded-ledger.*JSON-RPC error -32602/ }).waitFor();
      expect(await drawer.getByLabel('parameters', { exact: true }).textContent()).toContain('nonsense');
      await page.keyboard.press('Escape');
      await drawer.waitFor({ state: 'detached' });
      await open('Errors', `/errors?range=15m&key=${created.key.id}`);
      await page
        .getByRole('region', { name: 'Unknown methods' })
        .getByRole('row', { name: /^getNothing 1/ })
        .waitFor();
      await checkPage(page, 'errors');
    });

    it('filter the log with chips that are stored in the URL', async () => {
      await open('Logs', `/logs?range=15m&key=${created.key.id}`);
      await cell('getSlot').first().waitFor();
      await page.getByLabel('Outcome').selectOption('rpcError');
      await page.waitForURL(/status=rpcError/);
      await cell('getSlot').first().waitFor({ state: 'detached' });
      await cell('getAccountInfo').first().waitFor();
      await page.getByRole('button', { name: 'Remove filter: outcome RPC error' }).click();
      await cell('getSlot').first().waitFor();
      expect(page.url()).not.toContain('status=');
      await page.getByLabel('Search').fill(rejected);
      await page.keyboard.press('Enter');
      await cell('getSlot').first().waitFor({ state: 'detached' });
      await page.getByRole('row', { name: /sendTransaction.*Blockhash not found/ }).waitFor();
      await checkPage(page, 'logs');
    });

    it('list an open socket with its subscriptions, and close it', async () => {
      const url = `${now.dashboard.service.ready.wsUrl}?api-key=${created.secret}`;
      const socket = await SocketClient.open(url);
      await socket.result('slotSubscribe');
      await open('Streams', '/streams');
      const row = page.getByRole('row', { name: /WebSocket traffic slotSubscribe/ });
      await refetched(page, row);
      await checkPage(page, 'streams');
      await row.getByRole('button', { name: /^Close/ }).click();
      await page.getByRole('button', { name: 'Close WebSocket' }).click();
      expect((await socket.ended).code).toBe(1008);
      await refetched(page, row, false);
    });

    it('call and subscribe from the playground as a key chosen by its name', async () => {
      await open('Playground', '/playground?method=getSlot');
      await page.getByLabel('API key', { exact: true }).selectOption(created.key.id);
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByRole('status').getByText('Success').waitFor();
      await page.getByRole('radio', { name: 'REST' }).check();
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page.getByLabel('response').getByText('"success": true').waitFor();
      await page.getByRole('radio', { name: 'WebSocket' }).check();
      expect(await page.getByLabel('Network', { exact: true }).locator('option').count()).toBe(1);
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
      const messages = page.getByRole('list', { name: 'Messages' }).getByRole('listitem');
      await refetched(page, messages.nth(2));
      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      await page.getByText('Unsubscribed.').waitFor();
      await page.getByRole('radio', { name: 'gRPC' }).check();
      await page.getByRole('button', { name: 'Subscribe', exact: true }).click();
      await refetched(page, messages.nth(2));
      await messages.first().getByText('"parent"').waitFor();
      await page.getByRole('button', { name: 'Unsubscribe' }).click();
      await checkPage(page, 'playground');
      expect(await page.evaluate('JSON.stringify([localStorage, location.href])')).not.toContain('svc_');
    });

    it('show a sent transaction, its node and its result', async () => {
      await open('Transactions', '/transactions');
      await page.getByLabel('Signature').fill(signature);
      await page.getByRole('button', { name: 'Search' }).click();
      await refetched(
        page,
        page.getByRole('row', { name: /(processed|confirmed|finalized) \d+ accepted 1/i }),
      );
      await page.getByTitle(signature).click();
      await page
        .getByRole('dialog')
        .getByRole('row', { name: /^embedded-ledger/ })
        .first()
        .waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Signature').fill(rejected);
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByTitle(rejected).click();
      await page
        .getByRole('dialog')
        .getByText(/Blockhash not found$/)
        .waitFor();
      await page.keyboard.press('Escape');
      await checkPage(page, 'transactions');
    });

    it('cordon and uncordon a node with a reason, which the audit log records', async () => {
      await open('Upstreams', '/upstreams');
      const command = async (name: string): Promise<void> => {
        await page.getByRole('button', { name: /^Actions for embedded-ledger/ }).click();
        await page.getByRole('menuitem', { name, exact: true }).click();
      };
      await command('Cordon');
      await page.getByLabel('Reason').fill('a new disk');
      await page.getByRole('button', { name: 'Cordon', exact: true }).click();
      await refetched(page, page.getByRole('row', { name: /embedded-ledger.*Cordoned/ }));
      await command('Uncordon');
      await page.getByRole('button', { name: 'Uncordon', exact: true }).click();
      await refetched(page, page.getByRole('row', { name: /embedded-ledger.*Cordoned/ }), false);
      await open('Audit log', '/audit?range=1h');
      await page.getByRole('tab', { name: 'All customers' }).click();
      await page.getByRole('row', { name: /node\.cordon.*reason: a new disk/ }).waitFor();
      await page.getByRole('tab', { name: 'Consistency checks' }).click();
      await page.getByRole('columnheader', { name: 'Check' }).waitFor();
      await checkPage(page, 'audit');
    });

    it('ask for the name of the last ready node before it is drained, and show a banner until it is back', async () => {
      await open('Upstreams', '/upstreams');
      const banner = page.getByRole('region', { name: 'Problems' });
      await page.getByRole('button', { name: /^Drain ?embedded-ledger/ }).click();
      const dialog = page.getByRole('dialog');
      const drain = dialog.getByRole('button', { name: 'Drain', exact: true });
      expect(await drain.isDisabled()).toBe(true);
      await dialog.getByLabel('Reason').fill('a new switch');
      await dialog.getByLabel(/^Type/).fill('embedded-ledger');
      await drain.click();
      await banner.getByText(/^No node of .* is ready/).waitFor();
      await open('Home', '/');
      await banner.getByRole('link', { name: 'Details' }).waitFor();
      await checkPage(page, 'banner');
      await banner.getByRole('link', { name: 'Details' }).click();
      await page.getByRole('heading', { name: 'Upstreams', level: 1 }).waitFor();
      await page.getByText('1 drained').waitFor();
      await page.getByRole('button', { name: /^Uncordon ?embedded-ledger/ }).click();
      await page.getByRole('button', { name: 'Uncordon', exact: true }).click();
      await banner.waitFor({ state: 'detached' });
      await page.getByRole('link', { name: 'embedded-ledger' }).click();
      await refetched(page, page.getByRole('row', { name: /Drained.*a new switch/i }));
      await checkPage(page, 'node');
    });

    it('add and remove a recipient of alerts, and silence a problem', async () => {
      await open('Settings', '/settings?tab=alerts');
      await page.getByRole('radio', { name: 'PagerDuty' }).check();
      await page.getByLabel('Integration key').fill('too short');
      await page.getByRole('button', { name: 'Add recipient' }).click();
      await page.getByText('Must have 32 letters and digits.').waitFor();
      await page.getByLabel('Integration key').fill('0123456789abcdef0123456789abcdef');
      await page.getByRole('button', { name: 'Add recipient' }).click();
      const recipient = page.getByRole('row', { name: /events\.pagerduty\.com.*PagerDuty integration/ });
      await recipient.waitFor();
      await page.getByLabel('Silence', { exact: true }).selectOption('High error rate');
      await page.getByRole('button', { name: 'Silence alerts' }).click();
      await page.getByRole('row', { name: /^High error rate/ }).waitFor();
      await checkPage(page, 'alerts');
      await page.getByRole('button', { name: 'End silence of High error rate' }).click();
      await recipient.getByRole('button', { name: /^Remove/ }).click();
      await recipient.waitFor({ state: 'detached' });
    });

    it('show the bills of all customers in one click from Home, and that of one in two', async () => {
      await open('Home', '/');
      await page.getByRole('link', { name: 'Billing', exact: true }).click();
      await page.getByText('Set stripe.secret_key in the configuration').waitFor();
      await checkPage(page, 'all bills');
      await page
        .getByRole('row', { name: /^Default.* default/ })
        .getByRole('link')
        .last()
        .click();
      await page.getByRole('row', { name: /^Usage on plan “default”/ }).waitFor();
      await page.getByText('Usage is sent only if stripe.secret_key is set').waitFor();
      await checkPage(page, 'billing');
      const download = page.waitForEvent('download');
      await page.getByRole('link', { name: 'Usage (CSV)' }).click();
      const file = await readFile(await (await download).path(), 'utf8');
      expect(file).toMatch(new RegExp(`,${created.key.id},traffic,rpc,getSlot,\\d+,`));
      await page.getByLabel('Stripe customer ID').fill('cus_');
      await page.getByRole('button', { name: 'Save' }).click();
      await page.getByText(/^Must be a Stripe customer ID/).waitFor();
      await page.getByLabel('Stripe customer ID').fill('cus_NffrFeUfNV2Hib');
      await page.getByRole('button', { name: 'Save' }).click();
      const stop = page.getByRole('button', { name: 'Stop sending usage' });
      await stop.click();
      await stop.waitFor({ state: 'detached' });
      expect(await page.getByLabel('Stripe customer ID').inputValue()).toBe('');
    });

    it('create a plan, confirm its changes and the move of a customer, and undo both', async () => {
      await open('Settings', '/settings?tab=plans');
      await page.getByRole('button', { name: 'Create plan' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('ID', { exact: true }).fill('pro');
      await dialog.getByLabel('Currency').fill('usd');
      await dialog.getByLabel('Monthly price').fill('49.5.0');
      await dialog.getByRole('button', { name: 'Create plan' }).click();
      await dialog.getByText('Enter an amount such as 49.00.').waitFor();
      await dialog.getByLabel('Monthly price').fill('49.50');
      await checkPage(page, 'plan editor');
      await dialog.getByRole('button', { name: 'Create plan' }).click();
      const plan = page.getByRole('row', { name: /^pro \$49\.50 per month/ });
      await plan.waitFor();
      await plan.getByRole('button', { name: 'Actions for pro' }).click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      await dialog.getByLabel('Monthly credit limit', { exact: true }).fill('5000000');
      await dialog.getByRole('button', { name: 'Review changes' }).click();
      await dialog.getByText('Unlimited → 5,000,000').waitFor();
      await dialog.getByText(/^This affects 0 customers and 0 API keys/).waitFor();
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await page.getByRole('cell', { name: '5,000,000', exact: true }).waitFor();
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByRole('cell', { name: '5,000,000', exact: true }).waitFor({ state: 'detached' });
      await checkPage(page, 'plans');
      await page.getByRole('tab', { name: 'Customers' }).click();
      const select = page.getByLabel('Plan for Default');
      await select.selectOption('pro');
      await dialog.getByText('No price → $49.50 per month with 0 credits').waitFor();
      await checkPage(page, 'plan change');
      await dialog.getByRole('button', { name: 'Change plan' }).click();
      await page.getByRole('button', { name: 'Undo plan change for Default' }).waitFor();
      expect(await select.inputValue()).toBe('pro');
      await page.getByRole('button', { name: 'Undo', exact: true }).click();
      await page.getByText('Plan change undone. Default is on the default plan.').waitFor();
      expect(await select.inputValue()).toBe('default');
    });

    it('say why no node can be added in development mode', async () => {
      await open('Upstreams', '/upstreams');
      await page.getByText('Nodes cannot be added in development mode.').waitFor();
      expect(await page.getByRole('button', { name: 'Add node' }).isDisabled()).toBe(true);
      await checkPage(page, 'upstreams');
    });
  });
}
