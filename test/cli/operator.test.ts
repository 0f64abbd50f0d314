import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { temporaryFolder } from '../service/program.ts';
import { runHere } from './run-solway.ts';

const folder = temporaryFolder('operator');

const invite = async (...args: string[]): Promise<string> =>
  (await runHere(folder, ['operator', 'invite', ...args])).out;

/** Adds a heartbeat as a gateway on this machine does. */
async function runsAt(url: string): Promise<void> {
  const store = await openDatabase({ file: join(folder, 'solway-data/solway.db') });
  const now = Date.now();
  const row = { id: 'g1', host: hostname(), version: '1', started_at: now, seen_at: now, nodes: '[]', url };
  await store.db.insertInto('gateway').values(row).execute();
  await store.close();
}

it('solway operator invite prints a link to the address of the service', async () => {
  const assumed = await invite();
  expect(assumed).toMatch(/^http:\/\/127\.0\.0\.1:8080\/setup#token=\S+\n/);
  expect(assumed).toContain('The link assumes a service at http://127.0.0.1:8080.\nIf yours runs elsewhere');
  await runsAt('http://127.0.0.1:9123');
  const running = await invite();
  expect(running).toMatch(/^http:\/\/127\.0\.0\.1:9123\/setup#token=\S+\n/);
  expect(running).toContain('The link points to the service running here at http://127.0.0.1:9123');
  expect(await invite('--port', '9000')).toMatch(/^http:\/\/127\.0\.0\.1:9000\/setup#/);
  writeFileSync(join(folder, 'public.toml'), '[accounts]\npublic_url = "https://solway.example.com"\n');
  const configured = await invite('--config', 'public.toml');
  expect(configured).toMatch(/^https:\/\/solway\.example\.com\/setup#token=\S+\n/);
  expect(configured).not.toContain('127.0.0.1');
});

it.each([
  ['password', 'anna'],
  ['invite', '--email', 'anna'],
])('solway operator %s rejects an invalid address', async (...args) => {
  const { code, err } = await runHere(folder, ['operator', ...args]);
  expect([code, err]).toEqual([2, expect.stringContaining('use the form anna@example.com')]);
});
