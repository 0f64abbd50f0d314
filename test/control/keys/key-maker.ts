import { openDatabase } from '../../../src/control/database/open.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { registerOn } from '../register.ts';

/** Creates keys in a SQLite file until killed, and prints each id after its commit. */
const store = await openDatabase({ file: process.argv[2]! });
const register = await registerOn(store);
for (;;) {
  const { key } = await createKey(register, { product: 'rpc', name: 'made until killed' });
  process.stdout.write(`${key.id}\n`);
}
