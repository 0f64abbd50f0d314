import { join } from 'node:path';
import { openDatabase } from '../../../src/control/database/open.ts';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { openPeppers } from '../../../src/control/pepper-proof.ts';
import { eventually } from '../../service/eventually.ts';
import { createRpcClient } from '../../service/rpc-client.ts';
import type { RunningService } from '../../service/start-service.ts';

/** Creates a key with monotonic reads and waits until it is in force. */
export async function makeBoundKey({ dataDir, ready }: RunningService): Promise<string> {
  const store = await openDatabase({ file: join(dataDir, 'solway.db') });
  try {
    const peppers = await openPeppers(store, { dataDir });
    const register = { store, peppers, actor: 'chaos', keysMax: 1_000_000, now: Date.now };
    const { secret } = await createKey(register, { product: 'rpc', name: 'bound', neverBack: true });
    const client = createRpcClient(ready.rpcUrl, secret);
    await eventually(async () => (await client.call('getSlot')).status === 200, 'the key is in force');
    return secret;
  } finally {
    await store.close();
  }
}
