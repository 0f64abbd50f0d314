import { spawnSync } from 'node:child_process';
import { verify } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ContractName, RouteInput } from '../../src/control/api/contract/contract.ts';
import { usageAmount } from '../../src/control/billing/bill.ts';
import { statementOptions } from '../../src/control/billing/billing-options.ts';
import { monthAt } from '../../src/control/billing/month.ts';
import { MonthBills } from '../../src/control/billing/month-bills.ts';
import { StatementSigner, statementOf } from '../../src/control/billing/statement.ts';
import { StatementCloser } from '../../src/control/billing/statement-closer.ts';
import type { Store } from '../../src/control/database/store.ts';
import { temporaryFolder } from '../service/program.ts';
import { firstOperator, type LooseJson, openAccountsFixture } from './accounts/accounts-fixture.ts';
import { testPeppers } from './register.ts';
import { describeOnBothStores } from './stores.ts';
import { addKeys, rollUpAt, usageRow, write } from './usage/usage-fixture.ts';

const PRICE = { currency: 'usd', monthlyPrice: 4_900, includedCredits: 1_000_000, pricePerMillion: 500 };
const at = (month: number, day: number, hour = 0): number => Date.UTC(2027, month - 1, day, hour);

it('amounts of usage are exact and rounded to the nearest minor unit', () => {
  const amount = (credits: number, pricePerMillion: number) =>
    usageAmount(credits, { ...PRICE, includedCredits: 10, pricePerMillion });
  expect([amount(0, 500), amount(10, 500), amount(1_000_010, 500)]).toEqual([0, 0, 500]);
  expect([amount(1_009, 500), amount(1_010, 500), amount(3_010, 500)]).toEqual([0, 1, 2]);
  expect(amount(9_000_000_000_000_010, 1)).toBe(9_000_000_000);
  expect(usageAmount(5, null)).toBe(0);
});

describeOnBothStores('billing', ({ open }) => {
  async function start() {
    const fixture = await openAccountsFixture(await open());
    const { store, clock, api } = fixture;
    clock.now = at(1, 10);
    const call = <Name extends ContractName>(name: Name, input: RouteInput<Name>): Promise<LooseJson> =>
      api.call(name, input, 'test');
    await call('POST /plans', { body: { id: 'pro', price: PRICE } });
    await addKeys(store, 'acme', { AAAAAAAA: 'pro' });
    await call('PATCH /customers/{customer}', { path: { customer: 'acme' }, body: { planId: 'pro' } });
    await addKeys(store, 'acme', { BBBBBBBB: 'default' });
    const use = (day: number, credits: number, keyId = 'AAAAAAAA', epoch = 'one') =>
      write(store, [usageRow({ minute: at(1, day, 13) / 60_000, keyId, credits, requests: 10 })], epoch);
    const bill = (month: string) =>
      call('GET /customers/{customer}/billing', { path: { customer: 'acme' }, query: { month } });
    const change = (price: object) =>
      call('PATCH /plans/{plan}', { path: { plan: 'pro' }, body: { price: { ...PRICE, ...price } } });
    const closer = new StatementCloser({
      ...{ store, signer: new StatementSigner(testPeppers), options: statementOptions },
      onState: (error) => {
        if (error !== null) throw error;
      },
      now: () => clock.now,
    });
    const close = async (nowMs: number): Promise<void> => {
      clock.now = nowMs;
      await rollUpAt(store, nowMs);
      await closer.runOnce();
    };
    return { fixture, store, clock, call, use, bill, change, close };
  }

  const statements = async ({ db }: Store) =>
    db.selectFrom('billing_statement').selectAll().orderBy('month').execute();

  it('prices usage by the plan under which it was used, with the prices at the end of the month', async () => {
    const { store, clock, call, use, bill, change } = await start();
    await use(15, 3_000_001);
    await use(15, 500, 'BBBBBBBB');
    clock.now = at(1, 20);
    const open = await bill('2027-01');
    expect(open).toMatchObject({
      ...{ planId: 'pro', monthly: { currency: 'usd', amount: 4_900 }, statement: null, lateCredits: 0 },
      totals: [{ currency: 'usd', amount: 5_900 }],
    });
    expect(open.lines).toMatchObject([
      { planId: 'default', credits: 500, price: null, amount: 0 },
      { planId: 'pro', credits: 3_000_001, billableCredits: 2_000_001, amount: 1_000 },
    ]);
    clock.now = at(1, 31, 23);
    await change({ monthlyPrice: 5_900 });
    clock.now = at(2, 1, 1);
    await change({ monthlyPrice: 9_900 });
    await call('PATCH /customers/{customer}', { path: { customer: 'acme' }, body: { planId: 'default' } });
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, clock.now);
      expect(await bill('2027-01')).toMatchObject({ planId: 'pro', totals: [{ amount: 6_900 }] });
    }
    expect(await bill('2027-02')).toMatchObject({ planId: 'default', monthly: null, lines: [], totals: [] });
    const all = await call('GET /billing', { query: { month: '2027-01' } });
    expect(await call('GET /billing/totals', { query: { month: '2027-01' } })).toMatchObject({
      requests: 20,
      credits: 3_000_501,
      totals: [{ currency: 'usd', amount: 6_900 }],
    });
    expect(all.items.map((one: LooseJson) => [one.customerId, one.credits])).toEqual([
      ['acme', 3_000_501],
      ['house', 0],
    ]);
    await expect(bill('2027-03')).rejects.toMatchObject({ fields: { month: 'is in the future' } });
  });

  it('lists bills in stable pages of each order, and finds them by name or ID', async () => {
    const { store, clock, call, use } = await start();
    const ids = ['bolt', 'cask', 'dune'];
    for (const [nth, id] of ids.entries()) {
      await addKeys(store, id, { [`${id.toUpperCase()}AAA1`]: 'pro' });
      await use(15, 5_000_000 - nth * 1_000_000, `${id.toUpperCase()}AAA1`);
    }
    await use(15, 100, 'BBBBBBBB');
    const remove = (customer: string) =>
      call('POST /customers/{customer}/delete', { path: { customer }, body: { name: customer } });
    clock.now = at(1, 20);
    await remove('cask');
    clock.now = at(2, 10);
    const list = (query: object, month = '2027-01') => call('GET /billing', { query: { month, ...query } });
    const idsOf = ({ items }: LooseJson) => items.map((one: LooseJson) => one.customerId);
    async function pages(sort: string | undefined): Promise<string[]> {
      const found: string[] = [];
      for (let cursor: string | undefined; ; ) {
        const page = await list({ sort, limit: 2, cursor });
        found.push(...idsOf(page));
        if (page.next === null) return found;
        cursor = page.next;
      }
    }
    const [byName, byCredits, byTotal] = [
      ['acme', 'bolt', 'cask', 'dune', 'house'],
      ['house', 'acme', 'dune', 'cask', 'bolt'],
      ['house', 'dune', 'cask', 'bolt', 'acme'],
    ];
    expect(await pages(undefined)).toEqual(byName);
    expect(await pages('credits')).toEqual(byCredits);
    expect(await pages('-credits')).toEqual(byCredits.toReversed());
    expect(await pages('total')).toEqual(byTotal);
    expect(await pages('-requests')).toEqual(['dune', 'cask', 'bolt', 'acme', 'house']);
    const names = ['acme', 'bolt', 'Default', 'Deleted', 'dune'];
    expect((await list({ sort: 'name' })).items.map((one: LooseJson) => one.customerName)).toEqual(names);
    expect(await pages('-name')).toEqual((await pages('name')).toReversed());
    for (const sort of [undefined, 'name', 'total']) {
      expect(idsOf(await list({ sort, search: 'CM' }))).toEqual(['acme']);
      // Its name is "Default".
      expect(idsOf(await list({ sort, search: 'house' }))).toEqual(['house']);
    }
    await rollUpAt(store, clock.now);
    await store.db.deleteFrom('usage_minute').execute();
    await addKeys(store, 'echo', {});
    await remove('echo');
    expect(await pages(undefined)).toEqual(['acme', 'bolt', 'cask', 'dune', 'echo', 'house']);
    for (const sort of [undefined, 'total'])
      expect(idsOf(await list({ sort }, '2027-02'))).not.toContain('cask');
    const { next } = await list({ sort: 'total', limit: 2 });
    await expect(list({ sort: 'credits', cursor: next })).rejects.toMatchObject({ status: 422 });
    await expect(list({ sort: 'name', cursor: next })).rejects.toMatchObject({ status: 422 });
  });

  it('lists bills by name as they are, and reads those for other orders again after a while', async () => {
    const { store, clock, call, use } = await start();
    clock.now = at(1, 20);
    const bills = new MonthBills(store, () => clock.now);
    const [one, other] = await Promise.all([
      bills.readAll(monthAt(clock.now)),
      bills.readAll(monthAt(clock.now)),
    ]);
    expect(one).toBe(other);
    const credits = async (sort: 'name' | 'total'): Promise<number> =>
      (await call('GET /billing', { query: { sort, search: 'acme' } })).items[0].credits;
    const total = async (): Promise<number> => (await call('GET /billing/totals', { query: {} })).credits;
    await use(15, 10);
    expect([await credits('name'), await credits('total'), await total()]).toEqual([10, 10, 10]);
    await use(16, 5);
    expect([await credits('name'), await credits('total')]).toEqual([15, 10]);
    clock.now += 30_000;
    // Refreshed in the background, together for all requests.
    expect(await credits('total')).toBe(10);
    clock.now += 300_000;
    expect([await credits('total'), await total()]).toEqual([15, 15]);
  });

  it('closes a month a day after its end, for good, and states late usage on the next statement', async () => {
    const { store, use, bill, change, close } = await start();
    await use(15, 1_500_000);
    await close(at(2, 2) - 1);
    expect(await statements(store)).toEqual([]);
    await close(at(2, 2));
    const [first, ...others] = await statements(store);
    expect(others).toEqual([]);
    expect(statementOf(first!)).toMatchObject({
      ...{ id: '2027-01-acme', period: { from: '2027-01-01T00:00:00.000Z', to: '2027-02-01T00:00:00.000Z' } },
      ...{ totals: [{ currency: 'usd', amount: 4_900 + 250 }], lateUsage: [] },
    });
    await use(31, 1_000_000, 'AAAAAAAA', 'late');
    await change({ monthlyPrice: 1 });
    await close(at(2, 3));
    expect(await statements(store)).toEqual([first]);
    const closed = await bill('2027-01');
    expect(closed).toMatchObject({
      ...{ monthly: { amount: 4_900 }, lines: [{ credits: 1_500_000, amount: 250 }] },
      ...{ totals: [{ amount: 5_150 }], lateCredits: 1_000_000 },
    });
    await expect(store.db.updateTable('billing_statement').set({ body: '{}' }).execute()).rejects.toThrow(
      /append-only/,
    );
    for (const table of ['billing_statement', 'statement_key'] as const)
      await expect(store.db.deleteFrom(table).execute()).rejects.toThrow(/append-only/);
    await close(at(3, 2));
    const [, second] = await statements(store);
    expect(statementOf(second!)).toMatchObject({
      lateUsage: [{ month: '2027-01', planId: 'pro', credits: 1_000_000, currency: 'usd', amount: 500 }],
      totals: [{ currency: 'usd', amount: 501 }],
    });
  });

  it('looks for late usage of customers without a statement once a day', async () => {
    const { store, call, close } = await start();
    const { id } = await call('POST /customers', { body: { name: 'Late' } });
    await close(at(2, 2));
    await addKeys(store, id, { CCCCCCCC: 'pro' });
    const usage = { minute: at(1, 31) / 60_000, keyId: 'CCCCCCCC', credits: 2_000_000 };
    await write(store, [usageRow(usage)]);
    const closed = async (nowMs: number) => {
      await close(nowMs);
      return (await statements(store)).filter(({ customer_id }) => customer_id === id).map(statementOf);
    };
    expect(await closed(at(2, 3) - 1)).toEqual([]);
    expect(await closed(at(2, 3))).toMatchObject([{ totals: [{ currency: 'usd', amount: 500 }] }]);
  });

  it('signs statements, which openssl verifies with a public key of the API', async () => {
    const { fixture, call, use, close } = await start();
    await use(15, 1);
    await close(at(2, 2));
    const operator = await firstOperator(fixture);
    const path = '/api/v1/customers/acme/statements/2027-01/statement.json';
    const [statement, signature] = [await operator.get(path), await operator.get(`${path}.sig`)];
    const { keys } = (await fixture.browser().get('/api/v1/billing/keys')).json;
    const { keyId } = (
      await call('GET /customers/{customer}/billing', {
        path: { customer: 'acme' },
        query: { month: '2027-01' },
      })
    ).statement;
    const { publicKey } = keys.find(({ id }: LooseJson) => id === keyId);
    const bytes = Buffer.from(signature.text, 'base64');
    expect(verify(null, Buffer.from(statement.text), publicKey, bytes)).toBe(true);
    const folder = temporaryFolder('statement');
    for (const [name, text] of Object.entries({
      'key.pem': publicKey,
      's.json': statement.text,
      sig: signature.text,
    }))
      writeFileSync(join(folder, name), text);
    const command =
      'openssl base64 -d -in sig -out sig.bin && openssl pkeyutl -verify -pubin -inkey key.pem -rawin -in s.json -sigfile sig.bin';
    const shell = () => spawnSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
    expect(shell().stdout).toContain('Signature Verified Successfully');
    writeFileSync(join(folder, 's.json'), statement.text.replace('4900', '4901'));
    expect(shell().status).not.toBe(0);
    expect((await operator.get(path.replace('01/', '02/'))).status).toBe(404);
    // The key of an earlier pepper does not come from the database.
    const secrets = new Map([...testPeppers.secrets, [99, Buffer.alloc(32, 9)]]);
    const { keyId: id } = new StatementSigner({ current: 99, secrets });
    await fixture.store.db
      .insertInto('statement_key')
      .values({ id, public_key: 'forged', created_at: 0 })
      .execute();
    Object.assign(fixture.services, { peppers: { ...testPeppers, secrets } });
    const texts = (await call('GET /billing/keys', {})).keys.map((key: LooseJson) => key.publicKey);
    expect(texts).toHaveLength(2);
    expect(texts).not.toContain('forged');
  });

  it('charges the monthly price to a customer that was deleted after the end of the month', async () => {
    const { store, clock, call, close } = await start();
    const remove = async (name: string, nowMs: number): Promise<string> => {
      clock.now = at(1, 10);
      const { id } = await call('POST /customers', { body: { name } });
      await call('PATCH /customers/{customer}', { path: { customer: id }, body: { planId: 'pro' } });
      clock.now = nowMs;
      await call('POST /customers/{customer}/delete', { path: { customer: id }, body: { name } });
      return id;
    };
    await remove('January', at(2, 1) - 1);
    const later = await remove('February', at(2, 1));
    const undo = await store.db.selectFrom('plan_undo').select('subject').execute();
    expect(undo).toEqual([{ subject: 'customer:acme' }]);
    await close(at(2, 2));
    const closed = (await statements(store)).map(({ customer_id, body }) => [
      customer_id,
      statementOf({ body }).totals,
    ]);
    const totals = [{ currency: 'usd', amount: 4_900 }];
    expect(Object.fromEntries(closed)).toEqual({ acme: totals, [later]: totals });
  });

  it('exports the usage of a month by key, product and method', async () => {
    const { store, clock, call, use } = await start();
    await use(15, 30);
    await use(16, 12);
    await write(store, [usageRow({ minute: at(2, 1) / 60_000, keyId: 'AAAAAAAA' })]);
    clock.now = at(2, 1, 1);
    const query = { month: '2027-01' };
    for (const rolled of [false, true]) {
      if (rolled) await rollUpAt(store, at(2, 5));
      const lines: string[] = [];
      for await (const text of await call('GET /customers/{customer}/billing.csv', {
        path: { customer: 'acme' },
        query,
      }))
        lines.push(...text.split('\r\n'));
      expect(lines).toEqual([
        'month,customer,key,key_name,product,method,requests,credits,bytes_in,bytes_out,messages',
        '2027-01,acme,AAAAAAAA,name of AAAAAAAA,rpc,getSlot,20,42,200,2000,0',
      ]);
    }
    const records: LooseJson[] = [];
    for await (const text of await call('GET /billing.jsonl', { query }))
      records.push(...text.split('\n').map((line: string) => JSON.parse(line)));
    expect(records).toMatchObject([{ customer: 'acme', key: 'AAAAAAAA', method: 'getSlot', credits: 42 }]);
  });

  it('exports each of many keys once', async () => {
    const { store, clock, call } = await start();
    const ids = Array.from({ length: 501 }, (_, index) => `K${index + 1_000}`);
    for (const day of [15, 16]) {
      await write(
        store,
        ids.map((keyId) => usageRow({ minute: at(1, day) / 60_000, keyId })),
      );
      if (day === 15) await rollUpAt(store, at(1, 18));
    }
    clock.now = at(2, 1);
    const lines: string[] = [];
    for await (const text of await call('GET /billing.jsonl', { query: { month: '2027-01' } }))
      lines.push(...text.split('\n'));
    const rows = lines.map((line) => JSON.parse(line));
    expect(rows.map(({ key, requests }) => [key, requests])).toEqual(ids.map((id) => [id, 2]));
  });
});
