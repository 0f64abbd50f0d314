import { openDatabase } from '../../src/control/database/open.ts';
import { SemiWalletStore } from '../../src/control/semi-wallets/semi-wallet-store.ts';
import { testPeppers } from './register.ts';

/** Creates wallets in a SQLite file until killed, and prints each after its commit. */
const store = await openDatabase({ file: process.argv[2]! });
const wallets = await SemiWalletStore.open({ store, peppers: testPeppers, limits: { iterations: 1_000 } });
for (;;) {
  const wallet = await wallets.create('owner', 'password of the wallet');
  await wallets.changePassword('owner', wallet, 'password of the wallet', 'another password');
  process.stdout.write(`${wallet}\n`);
}
