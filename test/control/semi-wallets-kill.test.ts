import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openDatabase } from '../../src/control/database/open.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { address } from '../../src/solana/address.ts';
import { temporaryFolder } from '../service/program.ts';
import { runUntilKilled } from '../service/run-until-killed.ts';
import { testPeppers } from './register.ts';

const KILLS = 2;
const maker = join(import.meta.dirname, 'wallet-maker.ts');
const folder = temporaryFolder('wallet-kill');

it(`loses no acknowledged wallet or password when killed ${KILLS} times in a row`, async () => {
  const file = join(folder, 'killed.db');
  const safe: string[] = [];
  for (let kill = 0; kill < KILLS; kill++) safe.push(...(await runUntilKilled(maker, [file], 1 + kill)));
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
