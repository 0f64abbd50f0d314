import { expect, it } from 'vitest';
import { createKey } from '../../../src/control/keys/create-key.ts';
import { listKeys } from '../../../src/control/keys/key-register.ts';
import { LastUsedWriter } from '../../../src/control/keys/last-used-writer.ts';
import type { KeyId } from '../../../src/gateway/auth/key-record.ts';
import { LastUsedTracker } from '../../../src/gateway/metering/last-used.ts';
import { registerOn } from '../register.ts';
import { describeOnBothStores } from '../stores.ts';

describeOnBothStores('the last use of keys', ({ open }) => {
  it('is written with its address, and never moved back by another gateway', async () => {
    const store = await open();
    const register = await registerOn(store);
    const ids: KeyId[] = [];
    for (let count = 0; count < 3; count++)
      ids.push((await createKey(register, { product: 'rpc', name: 'x' })).key.id as KeyId);
    const [a, b] = ids as [KeyId, KeyId];
    const [one, other] = [new LastUsedTracker(), new LastUsedTracker()];
    const [writer, slower] = [one, other].map(
      (source) => new LastUsedWriter({ store, source, batchKeys: 1 }),
    );
    const version = () => store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
    const before = await version();
    one.record(a, '192.0.2.1', 150_000);
    one.record(b, null, 150_000);
    await writer!.stop();
    other.record(a, '192.0.2.2', 49_000);
    other.record(b, '2001:db8::1', 49_500);
    await slower!.stop();
    const uses = new Map(
      (await listKeys(register)).map((key) => [key.id, [key.lastUsedAt, key.lastUsedFrom]]),
    );
    expect(ids.map((id) => uses.get(id))).toEqual([
      [150_000, '192.0.2.1'],
      [150_000, '2001:db8::1'],
      [null, null],
    ]);
    // Not a change that gateways must load.
    expect(await version()).toEqual(before);
    one.record(a, '192.0.2.3', 150_001);
    await writer!.flush();
    expect((await listKeys(register)).find(({ id }) => id === a)).toMatchObject({
      lastUsedAt: 150_001,
      lastUsedFrom: '192.0.2.3',
    });
  });
});
