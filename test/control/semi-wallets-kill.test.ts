import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { address } from '../../src/solana/address.ts';
import { testPeppers } from './register.ts';

const KILLS = 4;
const maker = join(import.meta.dirname, 'wallet-maker.ts');
const folder = mkdtempSync(join(tmpdir(), 'solway-wallet-kill-'));
const running = new Set<ChildProcess>();

afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** Runs the program and kills it; returns the wallets that it reported as committed. */
async function makeUntilKilled(file: string, walletsBefore: number): Promise<string[]> {
  const child = spawn(process.execPath, [maker, file], { stdio: ['ignore', 'pipe', 'inherit'] });
  running.add(child);
  const made: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    made.push(line);
    if (made.length === walletsBefore) child.kill('SIGKILL');
  });
  const [code, signal] = await once(child, 'close');
  running.delete(child);
  expect([code, signal]).toEqual([null, 'SIGKILL']);
  return made;
}

it(`loses no acknowledged wallet or password when killed ${KILLS} times in a row`, async () => {
  const file = join(folder, 'killed.db');
  const safe: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) safe.push(...(await makeUntilKilled(file, 1 + kill)));
  const store = await openDatabase({ file });
  try {
    const wallets = await SemiWalletStore.open({ store, peppers: testPeppers });
    for (const wallet of safe) {
      const keypair = await wallets.keypair('owner', address(wallet), 'another password');
      expect(keypair?.publicKey).toBe(wallet);
    }
    const rows = await store.db.selectFrom('semi_wallet').select('address').execute();
    const made = await store.db
      .selectFrom('audit')
      .select('id')
      .where('action', '=', 'semi_wallet.create')
      .execute();
    expect(made.length).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(safe.length);
  } finally {
    await store.close();
  }
});
