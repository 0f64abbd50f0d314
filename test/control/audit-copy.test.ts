import { expect, it, onTestFinished } from 'vitest';
import { errorText } from '../../src/app/error-text.ts';
import { AuditCopy } from '../../src/control/clickhouse/audit-copy.ts';
import { ClickHouse } from '../../src/control/clickhouse/client.ts';
import { makeChange, writeAudit } from '../../src/control/database/transaction.ts';
import { describeOnClickHouse, sharedClickHouse } from './clickhouse-server.ts';
import { fail, isInsert, send, startFakeClickHouse } from './fake-clickhouse.ts';
import { describeOnSqlite } from './stores.ts';

/** Longer than a lease. */
const LEASE_MS = 60_000;

type Entry = Readonly<{ id: number; key_id: string }>;

describeOnSqlite('entries of the audit log that ClickHouse rejects', ({ open }) => {
  async function setUp() {
    const store = await open();
    const written = new Map<number, string>();
    const poison = new Set<string>();
    /** Keys of the entries of each insert. */
    const inserts: string[][] = [];
    const outage = { now: false };
    const fake = await startFakeClickHouse((statement, response, _, text) => {
      if (outage.now) return fail(response, 999);
      if (statement.includes('max(id)')) return send(response, [{ last: Math.max(0, ...written.keys()) }]);
      if (statement.includes('uniqExact')) {
        const parts = Map.groupBy(written.keys(), (id) => Math.floor(id / 2));
        return send(
          response,
          [...parts].map(([part, ids]) => ({ part, count: ids.length })),
        );
      }
      if (!isInsert(statement)) return send(response);
      const entries = text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as Entry);
      inserts.push(entries.map((entry) => entry.key_id));
      if (entries.some((entry) => poison.has(entry.key_id))) return fail(response, 27);
      for (const { id, key_id } of entries) written.set(id, key_id);
      send(response);
    });
    const server = new ClickHouse(fake.url);
    const clock = { now: Date.now() };
    const states: string[] = [];
    const copies: AuditCopy[] = [];
    const openCopy = (): AuditCopy => {
      const copy = new AuditCopy({
        ...{ store, server, batchRows: 2, now: () => clock.now },
        onState: (error) => states.push(error === null ? 'recovered' : 'failed'),
        onRejectedState: (error) => states.push(error === null ? 'accepted' : errorText(error)),
      });
      copies.push(copy);
      return copy;
    };
    onTestFinished(async () => {
      for (const copy of copies) await copy.stop();
      await server.close();
      fake.close();
    });
    const add = async (...keys: string[]): Promise<void> => {
      for (const keyId of keys)
        await makeChange(store, (trx, version) =>
          writeAudit(trx, version, { at: 1, actor: 'cli', action: 'key.create', keyId, detail: {} }),
        );
    };
    const stored = () => [...written.values()].toSorted().join('');
    return { ...{ written, poison, inserts, outage, clock, states, openCopy, add, stored } };
  }

  it('are retried alone, once a minute, while others are copied', async () => {
    const { poison, inserts, clock, states, openCopy, add, stored } = await setUp();
    for (const key of ['b', 'd', 'g']) poison.add(key);
    await add('a', 'b', 'c', 'd', 'e', 'f', 'g');
    const copy = openCopy();
    await copy.runOnce();
    expect([stored(), copy.hasRejectedRows]).toEqual(['acef', true]);
    expect(states).toEqual([expect.stringMatching(/^ClickHouse rejects 3 audit entries.*it failed/)]);
    inserts.splice(0);
    clock.now += 5_000;
    await add('h');
    await copy.runOnce();
    expect(inserts.splice(0)).toEqual([['h']]);
    clock.now += 60_000;
    await copy.runOnce();
    expect(inserts.splice(0)).toEqual([['b', 'd', 'g'], ['b'], ['d', 'g'], ['d'], ['g']]);
    poison.clear();
    await copy.runOnce();
    expect(inserts).toEqual([]);
    clock.now += 60_000;
    await copy.runOnce();
    expect([inserts, stored(), copy.hasRejectedRows]).toEqual([[['b', 'd', 'g']], 'abcdefgh', false]);
    expect(states.slice(1)).toEqual(['accepted']);
  });

  it('are retried only when due, also after an error', async () => {
    const { poison, inserts, outage, clock, states, openCopy, add } = await setUp();
    poison.add('a');
    await add('a', 'b', 'c');
    const copy = openCopy();
    await copy.runOnce();
    clock.now += 60_000;
    outage.now = true;
    await copy.runOnce();
    outage.now = false;
    inserts.splice(0);
    await copy.runOnce();
    expect(inserts).toEqual([]);
    expect(states).toEqual([expect.stringMatching('such as 1: it failed'), 'failed', 'recovered']);
  });

  it('and entries that it lost are found at a start, without the others', async () => {
    const { written, inserts, poison, clock, openCopy, add, stored } = await setUp();
    await add('a', 'b', 'c', 'd', 'e', 'f');
    poison.add('b');
    await openCopy().runOnce();
    poison.clear();
    for (const [id, key] of written) if (key === 'd') written.delete(id);
    inserts.splice(0);
    clock.now += LEASE_MS;
    const copy = openCopy();
    await copy.runOnce();
    expect([stored(), copy.hasRejectedRows]).toEqual(['abcdef', false]);
    expect(inserts.flat()).not.toContain('a');
    expect(inserts.flat()).not.toContain('f');
  });
});

describeOnClickHouse('the copy of the audit log', (open) => {
  it('has each entry once after an outage and a change of gateways', async () => {
    const { store, url } = await open();
    const clickHouse = await sharedClickHouse();
    const server = new ClickHouse(url);
    const change = (keyId: string | null) =>
      makeChange(store, (trx, version) =>
        writeAudit(trx, version, {
          ...{ at: 1_700_000_000_000, actor: 'user:anna@example.com', action: 'key.create', keyId },
          detail: { name: `a'\\"\n` },
        }),
      );
    const states: boolean[] = [];
    const first = new AuditCopy({
      store,
      server,
      batchRows: 2,
      onState: (error) => states.push(error === null),
    });
    for (let index = 0; index < 5; index++) await change(index === 0 ? null : `key-${index}`);
    await first.runOnce();
    await clickHouse.kill();
    await change('during');
    await first.runOnce();
    await clickHouse.start();
    await first.runOnce();
    await first.stop();
    await change('after');
    const second = new AuditCopy({ store, server, now: () => Date.now() + LEASE_MS });
    await second.runOnce();
    expect(states).toEqual([false, true]);
    const copied = await server.query(`select * from audit order by id`);
    expect(copied.rows).toEqual(await store.db.selectFrom('audit').selectAll().orderBy('id').execute());
    expect(copied.rows).toHaveLength(7);
    await second.stop();
    await server.close();
  });
});
