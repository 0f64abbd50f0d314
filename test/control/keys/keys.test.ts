import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/open.ts';
import {
  cutOverlap,
  disableKey,
  enableKey,
  OVERLAP_MAX_MS,
  revokeKey,
  rotateKey,
} from '../../../src/control/keys/change-key.ts';
import { createFirstKeys, createKey } from '../../../src/control/keys/create-key.ts';
import { keysChangedAfter } from '../../../src/control/keys/key-feed.ts';
import { listKeys } from '../../../src/control/keys/key-register.ts';
import { KeyAuthenticator } from '../../../src/gateway/auth/key-authenticator.ts';
import type { KeyRecord } from '../../../src/gateway/auth/key-record.ts';
import { registerOn, testPeppers } from '../register.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';

const HOUR = 3_600_000;

async function recordsOf(store: Store): Promise<KeyRecord[]> {
  const records: KeyRecord[] = [];
  for await (const page of keysChangedAfter(store, 0, 2)) records.push(...page);
  return records;
}

/** The decision of a gateway that has just loaded the store. */
async function judge(store: Store, secret: string, now: number): Promise<string> {
  const directory = new KeyAuthenticator({ peppers: testPeppers.secrets });
  directory.apply(await recordsOf(store));
  directory.setStoreReachable(true);
  try {
    return directory.authenticate(secret, now).id;
  } catch (error) {
    return (error as { code: string }).code;
  }
}

async function dump(store: Store): Promise<string> {
  const tables = ['plan', 'api_key', 'usage_minute', 'audit', 'pepper', 'change_counter'] as const;
  const rows = await Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()));
  return JSON.stringify(rows);
}

async function auditOf(store: Store): Promise<string[]> {
  const rows = await store.db.selectFrom('audit').selectAll().orderBy('id').execute();
  return rows.filter(({ key_id }) => key_id !== null).map(({ action, key_id }) => `${action} ${key_id}`);
}

describeOnBothStores('keys', ({ open }) => {
  it('work at once and are stored as a digest only', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { secret, key } = await createKey(register, { product: 'rpc', name: ' web shop ' });
    expect(secret).toMatch(/^svc_rpc_live_[1-9A-HJ-NP-Za-km-z]{46}$/);
    expect(key).toMatchObject({ name: 'web shop', state: 'active', planId: 'default', expiresAt: null });
    expect(secret.startsWith(key.start)).toBe(true);
    expect(await judge(store, secret, register.now())).toBe(key.id);
    expect(await dump(store)).not.toContain(secret.slice(key.start.length, -6));
    expect(JSON.stringify(await listKeys(register))).not.toContain(secret.slice(key.start.length, -6));
  });

  it('stop at their expiry', async () => {
    const store = await open();
    const clock = { now: 1_700_000_000_000 };
    const register = await registerOn(store, { clock });
    const options = { product: 'rpc', name: 'x', expiresAt: clock.now + HOUR } as const;
    const { secret, key } = await createKey(register, options);
    expect(await judge(store, secret, clock.now + HOUR - 1)).toBe(key.id);
    expect(await judge(store, secret, clock.now + HOUR)).toBe('INVALID_KEY');
    clock.now += HOUR;
    expect(await listKeys(register)).toMatchObject([{ id: key.id, state: 'expired' }]);
  });

  it('are rejected with a remedy if a field is invalid', async () => {
    const register = await registerOn(await open(), { keysMax: 1 });
    const refusal = (options: object) =>
      createKey(register, { product: 'rpc', name: 'x', ...options }).catch((error) => error.message);
    for (const name of [' ', 'x'.repeat(65), 'a\u0000b'])
      expect(await refusal({ name })).toBe('The name of a key must have 1 to 64 printable characters');
    expect(await refusal({ expiresAt: register.now() })).toBe('The expiry must be in the future');
    expect(await refusal({ planId: 'gold' })).toBe(
      'There is no plan "gold". Use one of default, or add it to the configuration.',
    );
    await createKey(register, { product: 'rpc', name: 'x' });
    expect(await refusal({})).toBe(
      'The service has 1 keys, the maximum. Revoke keys or raise keys.keys_max.',
    );
    expect(await listKeys(register)).toHaveLength(1);
  });
});

describeOnSqlite('rotation', ({ open }) => {
  it('creates a key in the same family while the old one stays valid during the overlap', async () => {
    const store = await open();
    const register = await registerOn(store);
    const before = await createKey(register, { product: 'rpc', name: 'x' });
    const after = await rotateKey(register, before.key.id, HOUR);
    expect(after.old).toMatchObject({ id: before.key.id, state: 'rotating', replacedBy: after.key.id });
    expect(after.key).toMatchObject({ familyId: before.key.familyId, name: 'x', state: 'active' });
    expect(await judge(store, before.secret, register.now() + HOUR - 1)).toBe(before.key.id);
    expect(await judge(store, before.secret, register.now() + HOUR)).toBe('INVALID_KEY');
    expect(await judge(store, after.secret, register.now() + HOUR)).toBe(after.key.id);
  });

  it('can end the old key at once, or shorten the overlap later but never extend it', async () => {
    const store = await open();
    const register = await registerOn(store);
    const first = await createKey(register, { product: 'rpc', name: 'x' });
    const second = await rotateKey(register, first.key.id, 0);
    expect(await judge(store, first.secret, register.now())).toBe('INVALID_KEY');
    await rotateKey(register, second.key.id, HOUR);
    await cutOverlap(register, second.key.id, register.now() + 2 * HOUR);
    expect(await judge(store, second.secret, register.now() + HOUR - 1)).toBe(second.key.id);
    expect(await judge(store, second.secret, register.now() + HOUR)).toBe('INVALID_KEY');
    await cutOverlap(register, second.key.id);
    expect(await judge(store, second.secret, register.now())).toBe('INVALID_KEY');
    const expiresAt = register.now() + HOUR;
    const granted = await createKey(register, { product: 'rpc', name: 'x', expiresAt });
    const { key, old } = await rotateKey(register, granted.key.id, 24 * HOUR);
    expect([key.expiresAt, old.expiresAt]).toEqual([expiresAt, expiresAt]);
  });

  it('is rejected for keys that cannot be rotated and for overlaps out of range', async () => {
    const register = await registerOn(await open());
    const { key } = await createKey(register, { product: 'rpc', name: 'x' });
    const refusal = (overlap?: number) =>
      rotateKey(register, key.id, overlap).catch((error) => error.message);
    expect(await refusal(-1)).toBe('The overlap of a rotation must be 0 to 90 days');
    expect(await refusal(OVERLAP_MAX_MS + 1)).toBe('The overlap of a rotation must be 0 to 90 days');
    const next = await rotateKey(register, key.id);
    expect(await refusal()).toContain(`it is already being replaced by ${next.key.id}`);
    await disableKey(register, key.id);
    expect(await refusal()).toContain('it is disabled. Enable it first.');
    await revokeKey(register, key.id);
    expect(await refusal()).toContain('it is revoked. Create a new key.');
    await expect(rotateKey(register, '11111111')).rejects.toThrow('There is no such key');
  });
});

describeOnSqlite('the state of a key', ({ open }) => {
  it('is disabled and enabled, also during a rotation', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { key, secret } = await createKey(register, { product: 'rpc', name: 'x' });
    await rotateKey(register, key.id, HOUR);
    await disableKey(register, key.id);
    expect(await judge(store, secret, register.now())).toBe('INVALID_KEY');
    expect(await enableKey(register, key.id)).toMatchObject({ state: 'rotating' });
    expect(await judge(store, secret, register.now())).toBe(key.id);
  });

  it('is final once expired, disabled or not', async () => {
    const store = await open();
    const register = await registerOn(store);
    const expiresAt = register.now() + HOUR;
    const { key } = await createKey(register, { product: 'rpc', name: 'x', expiresAt });
    const stopped = await createKey(register, { product: 'rpc', name: 'y', expiresAt });
    await disableKey(register, stopped.key.id);
    const later = { ...register, now: () => expiresAt };
    await expect(disableKey(later, key.id)).rejects.toThrow('cannot be disabled: it is expired');
    for (const { id } of [key, stopped.key]) {
      await expect(enableKey(later, id)).rejects.toThrow('cannot be enabled: it is expired, which is final');
    }
    expect(await revokeKey(later, key.id)).toMatchObject({ state: 'revoked' });
  });

  it('is audited once per change, in order, without a secret', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { key, secret } = await createKey(register, { product: 'rpc', name: 'x' });
    await disableKey(register, key.id);
    await disableKey(register, key.id);
    await enableKey(register, key.id);
    const next = await rotateKey(register, key.id);
    await cutOverlap(register, key.id);
    await revokeKey(register, key.id);
    await revokeKey(register, key.id);
    await enableKey(register, '11111111').catch(() => undefined);
    expect(await auditOf(store)).toEqual([
      `key.create ${key.id}`,
      `key.disable ${key.id}`,
      `key.enable ${key.id}`,
      `key.create ${next.key.id}`,
      `key.rotate ${key.id}`,
      `key.cut-overlap ${key.id}`,
      `key.revoke ${key.id}`,
    ]);
    const text = await dump(store);
    for (const each of [secret, next.secret]) expect(text).not.toContain(each.slice(21, -6));
  });
});

describeOnBothStores('the first start', ({ fresh, open }) => {
  it('creates one key per product at the first start only', async () => {
    const register = await registerOn(await open());
    const made = await createFirstKeys(register);
    expect(made.map(({ key }) => key.product)).toEqual(['rpc', 'grpc', 'fs']);
    expect(await createFirstKeys(register)).toEqual([]);
    for (const { key } of made) await revokeKey(register, key.id);
    expect(await createFirstKeys(register)).toEqual([]);
  });

  it('creates them once when several programs start together', async () => {
    const place = await fresh();
    const stores = await Promise.all([open(place), open(place), open(place)]);
    const registers = await Promise.all(stores.map((store) => registerOn(store)));
    const made = await Promise.all(registers.map((register) => createFirstKeys(register)));
    expect(made.map(({ length }) => length).toSorted()).toEqual([0, 0, 3]);
    expect(await listKeys(registers[0]!)).toHaveLength(3);
  });
});
