import { expect, it } from 'vitest';
import { ApiError } from '../../../src/control/api/api-error.ts';
import { updateRows } from '../../../src/control/database/rows.ts';
import type { Store } from '../../../src/control/database/store.ts';
import { nextVersion, transactAndNotify } from '../../../src/control/database/transaction.ts';
import {
  changeKey,
  cutOverlap,
  disableKey,
  enableKey,
  revokeKey,
  revokeKeys,
  rotateKey,
} from '../../../src/control/keys/change-key.ts';
import { type CreateKeyOptions, createFirstKeys, createKey } from '../../../src/control/keys/create-key.ts';
import {
  keysChangedAfter,
  keysOfPlansChangedAfter,
  newestVersion,
} from '../../../src/control/keys/key-feed.ts';
import { type KeyRegister, listKeys, readFamily } from '../../../src/control/keys/key-register.ts';
import { lastUsedWriter } from '../../../src/control/keys/last-used-writer.ts';
import { syncPlans } from '../../../src/control/plans.ts';
import { KeyAuthenticator } from '../../../src/gateway/auth/key-authenticator.ts';
import { defaultPlanLimits, type KeyId, type KeyRecord } from '../../../src/gateway/auth/key-record.ts';
import { LastUsedTracker } from '../../../src/gateway/metering/last-used.ts';
import { registerOn, testPeppers } from '../register.ts';
import { describeOnBothStores, describeOnSqlite } from '../stores.ts';

const HOUR = 3_600_000;

async function recordsOf(store: Store): Promise<Map<string, KeyRecord>> {
  const records: KeyRecord[] = [];
  for await (const page of keysChangedAfter(store, 0, 100)) records.push(...page);
  return new Map(records.map((record) => [record.id as string, record]));
}

async function customerOn(
  store: Store,
  id: string,
  options: Partial<KeyRegister> = {},
): Promise<KeyRegister> {
  const register = await registerOn(store, options);
  const limits = { ...defaultPlanLimits, rpcPerSecond: 50, rpcBurst: 100 };
  await syncPlans(store, [{ id: 'free', name: 'free', limits }], 'test');
  const row = { id, name: id, plan_id: 'free', state: 'active', created_at: 0, version: 0 } as const;
  await store.db.insertInto('customer').values(row).execute();
  return { ...register, customerId: id };
}

const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof ApiError)) throw error ?? new Error('nothing was refused');
  return [error.code, Object.keys(error.fields ?? {})[0], error.message];
};

const lastAudit = async (store: Store) => {
  const row = await store.db
    .selectFrom('audit')
    .selectAll()
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow();
  return { ...row, detail: JSON.parse(row.detail) as Record<string, unknown> };
};

describeOnSqlite('key rules', ({ open }) => {
  it('are normalized and applied by the gateways', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { key } = await createKey(register, {
      product: 'rpc',
      name: 'ruled',
      networks: ['devnet', 'devnet'],
      cidrs: ['192.0.2.7/24', '2001:DB8::1', '::ffff:192.0.2.9/120'],
      origins: ['HTTPS://App.Example.com:443/', 'http://*.bücher.example:8080', 'http://localhost:3000'],
      methods: ['getBalance', 'getBlock*', 'wallet/*', 'accountSubscribe'],
      rate: { perSecond: 10, burst: 20 },
      addressPerSecond: 5,
      logsBodies: true,
      neverBack: true,
    });
    const rules = {
      networks: ['devnet'],
      cidrs: ['192.0.2.0/24', '2001:db8::1'],
      origins: ['https://app.example.com', 'http://*.xn--bcher-kva.example:8080', 'http://localhost:3000'],
      methods: ['getBalance', 'getBlock*', 'wallet/*', 'accountSubscribe'],
    };
    expect(key).toMatchObject({ ...rules, rate: { perSecond: 10, burst: 20 }, addressPerSecond: 5 });
    expect((await lastAudit(store)).detail).toMatchObject({ logsBodies: true, neverBack: true });
    expect((await recordsOf(store)).get(key.id)).toMatchObject({
      rules,
      addressPerSecond: 5,
      logsBodies: true,
      monotonicReads: true,
      limits: { rpcPerSecond: 10, rpcBurst: 20 },
    });
  });

  it('are rejected with the field and the allowed values', async () => {
    const store = await open();
    const register = await registerOn(store);
    const create = (options: Partial<CreateKeyOptions>) =>
      refusal(createKey(register, { product: 'rpc', name: 'x', ...options }));
    expect(await create({ cidrs: ['192.0.2.0/33'] })).toEqual([
      'INVALID_FIELDS',
      'cidrs',
      'cidrs: "192.0.2.0/33" is not an IP address or a range such as 192.0.2.0/24 or 2001:db8::/32',
    ]);
    for (const origin of ['app.example.com', 'https://*.com', 'https://*.192.0.2.1'])
      expect(await create({ origins: [origin] })).toEqual([
        'INVALID_FIELDS',
        'origins',
        expect.stringContaining(`"${origin}" is not a web origin such as https://app.example.com`),
      ]);
    expect((await create({ methods: ['getBalanse'] }))[2]).toContain(
      'RPC keys cannot call "getBalanse". Use a method such as',
    );
    expect((await create({ product: 'grpc', methods: ['getBalance'] }))[2]).toContain(
      'gRPC keys cannot call "getBalance"',
    );
    expect((await create({ product: 'grpc', origins: ['https://a.example'] }))[1]).toBe('origins');
    expect(await create({ rate: { perSecond: 11, burst: 20 } })).toEqual([
      'INVALID_FIELDS',
      'rate.perSecond',
      'rate.perSecond: the rate limit in calls per second must be a whole number from 1 to 10, the maximum of plan "default"',
    ]);
    expect((await create({ rate: { perSecond: 1, burst: 21 } }))[1]).toBe('rate.burst');
    expect((await create({ addressPerSecond: 11 }))[1]).toBe('addressPerSecond');
    expect((await create({ product: 'grpc', neverBack: true }))[1]).toBe('neverBack');
    expect(await listKeys(register, { withRevoked: true })).toEqual([]);
  });

  it('require origins, read-only methods and a rate per address for a public key', async () => {
    const register = await registerOn(await open());
    const options = { product: 'rpc', name: 'page', isPublic: true } as const;
    expect((await refusal(createKey(register, options)))[2]).toContain(
      'public keys need at least one allowed origin',
    );
    const origins = ['https://app.example.com'];
    expect((await refusal(createKey(register, { ...options, product: 'fs', origins })))[1]).toBe('isPublic');
    const { key } = await createKey(register, { ...options, origins });
    expect(key).toMatchObject({ isPublic: true, origins, addressPerSecond: 10 });
    expect(key.methods).toContain('getBalance');
    expect(key.methods).toContain('accountSubscribe');
    for (const one of [
      'sendTransaction',
      'requestAirdrop',
      'getProgramAccounts',
      'wallet/send_sol',
      'storage/upload',
    ])
      expect(key.methods).not.toContain(one);
    expect((await refusal(changeKey(register, key.id, { origins: null })))[1]).toBe('origins');
    const changed = await changeKey(register, key.id, {
      addressPerSecond: null,
      methods: ['sendTransaction'],
    });
    expect(changed).toMatchObject({ addressPerSecond: 10, methods: ['sendTransaction'] });
  });
});

describeOnSqlite('changes of a key', ({ open }) => {
  it('apply to the whole key family, are audited with before and after, and extend nothing', async () => {
    const store = await open();
    const clock = { now: 1_700_000_000_000 };
    const register = await registerOn(store, { clock });
    const expiresAt = clock.now + 9 * HOUR;
    const first = await createKey(register, { product: 'rpc', name: 'x', expiresAt });
    clock.now += 1;
    const second = await rotateKey(register, first.key.id, HOUR);
    const origin = { address: '192.0.2.1', userAgent: 'agent', requestId: 'r1' };
    const change = { name: 'y', cidrs: ['192.0.2.0/24'], expiresAt: register.now() + 5 * HOUR };
    const changed = await changeKey({ ...register, actor: 'user:a', origin }, second.key.id, change);
    expect(changed).toMatchObject({
      name: 'y',
      cidrs: ['192.0.2.0/24'],
      expiresAt: register.now() + 5 * HOUR,
    });
    const { family } = await readFamily(register, first.key.id);
    expect(family).toMatchObject([
      { id: first.key.id, name: 'y', cidrs: ['192.0.2.0/24'], expiresAt: register.now() + HOUR },
      { id: second.key.id, name: 'y', cidrs: ['192.0.2.0/24'], expiresAt: register.now() + 5 * HOUR },
    ]);
    expect(await lastAudit(store)).toMatchObject({
      actor: 'user:a',
      action: 'key.change',
      key_id: second.key.id,
      customer_id: 'house',
      address: '192.0.2.1',
      user_agent: 'agent',
      request_id: 'r1',
      detail: {
        'before.name': 'x',
        'after.name': 'y',
        'before.cidrs': '',
        'after.cidrs': '192.0.2.0/24',
        'before.expiresAt': expiresAt,
        'after.expiresAt': register.now() + 5 * HOUR,
      },
    });
  });

  it('are rejected after the key has ended', async () => {
    const clock = { now: 1_700_000_000_000 };
    const register = await registerOn(await open(), { clock });
    const { key } = await createKey(register, { product: 'rpc', name: 'x', expiresAt: clock.now + HOUR });
    clock.now += HOUR;
    expect((await refusal(changeKey(register, key.id, { expiresAt: null })))[2]).toContain('it is expired');
    await revokeKey(register, key.id);
    expect((await refusal(changeKey(register, key.id, { name: 'y' })))[2]).toContain('it is revoked');
  });
});

describeOnBothStores('the keys of a customer', ({ open }) => {
  it('move to a new plan with their customer, except keys with a plan of their own', async () => {
    const store = await open();
    const register = await customerOn(store, 'acme');
    const { key } = await createKey(register, { product: 'rpc', name: 'x' });
    const own = await createKey(register, { product: 'rpc', name: 'y', planId: 'default' });
    const limits = { ...defaultPlanLimits, rpcPerSecond: 77 };
    await syncPlans(store, [{ id: 'gold', name: 'gold', limits }], 'test');
    const seen = await newestVersion(store);
    await transactAndNotify(store, async (trx) => {
      const change = { plan_id: 'gold', version: await nextVersion(trx) };
      await trx.updateTable('customer').set(change).where('id', '=', 'acme').execute();
      await updateRows(trx, 'api_key', { customer_id: 'acme', plan_id: 'free' }, { plan_id: 'gold' });
    });
    const records: KeyRecord[] = [];
    for await (const page of keysOfPlansChangedAfter(store, seen, 100)) records.push(...page);
    const plans = new Map(records.map((one) => [one.id as string, [one.limits.rpcPerSecond, one.version]]));
    expect(plans.get(key.id)).toEqual([77, seen + 1]);
    expect(plans.get(own.key.id)).toEqual([10, seen + 1]);
  });

  it('are capped by their plan, and regain their own rate when the plan allows it', async () => {
    const store = await open();
    const register = await customerOn(store, 'acme');
    const rate = { perSecond: 40, burst: 80 };
    const { key } = await createKey(register, { product: 'rpc', name: 'x', rate });
    const ratesUnder = async (rpcPerSecond: number, rpcBurst: number) => {
      const limits = { ...defaultPlanLimits, rpcPerSecond, rpcBurst };
      await syncPlans(store, [{ id: 'free', name: 'free', limits }], 'test');
      const record = (await recordsOf(store)).get(key.id);
      return [record?.limits.rpcPerSecond, record?.limits.rpcBurst];
    };
    expect(await ratesUnder(5, 9)).toEqual([5, 9]);
    expect(await ratesUnder(50, 100)).toEqual([40, 80]);
    expect(await ratesUnder(0, 100)).toEqual([40, 80]);
  });

  it('are invisible to other customers', async () => {
    const store = await open();
    const acme = await customerOn(store, 'acme');
    const other: KeyRegister = { ...acme, customerId: 'house' };
    const { key } = await createKey(acme, { product: 'rpc', name: 'x' });
    const works = [
      () => changeKey(other, key.id, { name: 'y' }),
      () => rotateKey(other, key.id),
      () => revokeKey(other, key.id),
      () => disableKey(other, key.id),
      () => readFamily(other, key.id),
      () => revokeKeys(other, [key.id]),
    ];
    for (const work of works) expect((await refusal(work()))[0]).toBe('NOT_FOUND');
    expect(await listKeys(other)).toEqual([]);
    expect(await listKeys(acme)).toEqual([key]);
  });

  it('are revoked together or not at all, each with an audit entry', async () => {
    const store = await open();
    const register = await customerOn(store, 'acme');
    const ids: string[] = [];
    for (let count = 0; count < 3; count++)
      ids.push((await createKey(register, { product: 'rpc', name: 'x' })).key.id);
    expect((await refusal(revokeKeys(register, [...ids, '11111111'])))[1]).toBe('ids');
    expect((await listKeys(register)).length).toBe(3);
    await revokeKey(register, ids[0]!);
    const revoked = await revokeKeys(register, [...ids, ids[1]!]);
    expect(revoked.map(({ id, state }) => [id, state])).toEqual(ids.map((id) => [id, 'revoked']));
    const lines = await store.db
      .selectFrom('audit')
      .select('key_id')
      .where('action', '=', 'key.revoke')
      .execute();
    expect(lines.map(({ key_id }) => key_id).toSorted()).toEqual(ids.toSorted());
    const records = await recordsOf(store);
    expect(new Set([...records.values()].map(({ version }) => version)).size).toBe(3);
    expect([...records.values()].every(({ status }) => status === 'revoked')).toBe(true);
  });
});

async function judge(store: Store, secret: string, now: number): Promise<string> {
  const directory = new KeyAuthenticator({ peppers: testPeppers.secrets });
  directory.apply((await recordsOf(store)).values());
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
  it('work immediately, and are stored only as a digest', async () => {
    const store = await open();
    const register = await registerOn(store);
    const { secret, key } = await createKey(register, { product: 'rpc', name: 'web shop' });
    expect(secret).toMatch(/^svc_rpc_live_[1-9A-HJ-NP-Za-km-z]{46}$/);
    expect(key).toMatchObject({ name: 'web shop', state: 'active', planId: 'default', expiresAt: null });
    expect(secret.startsWith(key.start)).toBe(true);
    expect(await judge(store, secret, register.now())).toBe(key.id);
    expect(await dump(store)).not.toContain(secret.slice(key.start.length, -6));
    expect(JSON.stringify(await listKeys(register))).not.toContain(secret.slice(key.start.length, -6));
  });

  it('are rejected with a remedy if a field is invalid', async () => {
    const register = await registerOn(await open(), { keysMax: 1 });
    const refusal = (options: object) =>
      createKey(register, { product: 'rpc', name: 'x', ...options }).catch((error) => error.message);
    expect(await refusal({ expiresAt: register.now() })).toBe('The expiry must be in the future');
    expect(await refusal({ planId: 'gold' })).toBe(
      'There is no plan "gold". Use one of default, or add it to the configuration.',
    );
    await createKey(register, { product: 'rpc', name: 'x' });
    expect(await refusal({})).toBe(
      'The service has 1 keys, which is the maximum. Revoke keys or raise keys.keys_max.',
    );
    expect(await listKeys(register)).toHaveLength(1);
  });
});

describeOnSqlite('rotation', ({ open }) => {
  it('can end the old key immediately, or shorten the overlap later but never extend it', async () => {
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

  it('is rejected for keys that cannot be rotated', async () => {
    const register = await registerOn(await open());
    const { key } = await createKey(register, { product: 'rpc', name: 'x' });
    const refusal = () => rotateKey(register, key.id).catch((error) => error.message);
    const next = await rotateKey(register, key.id);
    expect(await refusal()).toContain(`it is already being replaced by ${next.key.id}`);
    await disableKey(register, key.id);
    expect(await refusal()).toContain('it is disabled. Enable it first.');
    await revokeKey(register, key.id);
    expect(await refusal()).toContain('it is revoked. Create a new key.');
    await expect(rotateKey(register, '11111111')).rejects.toThrow('This customer has no such key');
  });
});

describeOnSqlite('the status of a key', ({ open }) => {
  it('cannot be changed by enabling or disabling after the key has expired', async () => {
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

  it('is audited once per change, in order, without secrets', async () => {
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
  it('creates the first keys once when several programs start together', async () => {
    const database = await fresh();
    const stores = await Promise.all([open(database), open(database), open(database)]);
    const registers = await Promise.all(stores.map((store) => registerOn(store)));
    const made = await Promise.all(registers.map((register) => createFirstKeys(register)));
    expect(made.map(({ length }) => length).toSorted()).toEqual([0, 0, 3]);
    expect(await listKeys(registers[0]!)).toHaveLength(3);
  });
});

describeOnBothStores('the last use of a key', ({ open }) => {
  it('is stored with its address, and never moved back by another gateway', async () => {
    const store = await open();
    const register = await registerOn(store);
    const ids: KeyId[] = [];
    for (let count = 0; count < 3; count++)
      ids.push((await createKey(register, { product: 'rpc', name: 'x' })).key.id as KeyId);
    const [a, b] = ids as [KeyId, KeyId];
    const [one, other] = [new LastUsedTracker(), new LastUsedTracker()];
    const [writer, slower] = [one, other].map((source) => lastUsedWriter({ store, source, batchKeys: 1 }));
    const version = () => store.db.selectFrom('change_counter').select('version').executeTakeFirstOrThrow();
    const before = await version();
    one.record(a, '192.0.2.1', 150_000);
    one.record(b, null, 150_000);
    await writer!.finish();
    other.record(a, '192.0.2.2', 49_000);
    other.record(b, '2001:db8::1', 49_500);
    await slower!.finish();
    const uses = new Map(
      (await listKeys(register)).map((key) => [key.id, [key.lastUsedAt, key.lastUsedFrom]]),
    );
    expect(ids.map((id) => uses.get(id))).toEqual([
      [150_000, '192.0.2.1'],
      [150_000, '2001:db8::1'],
      [null, null],
    ]);
    // A last use must not change the version that gateways poll.
    expect(await version()).toEqual(before);
    one.record(a, '192.0.2.3', 150_001);
    await writer!.run();
    expect((await listKeys(register)).find(({ id }) => id === a)).toMatchObject({
      lastUsedAt: 150_001,
      lastUsedFrom: '192.0.2.3',
    });
  });
});
