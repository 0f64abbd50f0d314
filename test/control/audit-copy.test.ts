import { expect, it } from 'vitest';
import { AuditCopy } from '../../src/control/clickhouse/audit-copy.ts';
import { ClickHouse } from '../../src/control/clickhouse/client.ts';
import { makeChange, writeAudit } from '../../src/control/database/transaction.ts';
import { describeOnClickHouse, sharedClickHouse } from './clickhouse-server.ts';
import { fail, isInsert, send, startFakeClickHouse } from './fake-clickhouse.ts';
import { describeOnSqlite } from './stores.ts';

/** Longer than a lease. */
const LEASE_MS = 60_000;

describeOnSqlite('the copy of the audit log', ({ open }) => {
  it('has all entries but those that ClickHouse refuses, which are retried less often', async () => {
    const store = await open();
    const written = new Set<number>();
    let poison = 'key-1';
    let inserts = 0;
    const fake = await startFakeClickHouse((statement, response, _, rows) => {
      if (statement.includes('max(id)')) return send(response, [{ last: Math.max(0, ...written) }]);
      if (statement.includes('uniqExact')) return send(response, [{ count: written.size }]);
      if (!isInsert(statement)) return send(response);
      inserts++;
      if (rows.includes(`"${poison}"`)) return fail(response, 27);
      for (const line of rows.trim().split('\n')) written.add((JSON.parse(line) as { id: number }).id);
      send(response);
    });
    const server = new ClickHouse(fake.url);
    const clock = { now: Date.now() };
    const states: boolean[] = [];
    const openCopy = () =>
      new AuditCopy({
        ...{ store, server, batchRows: 2, now: () => clock.now },
        onState: (error) => states.push(error === null),
      });
    const change = (keyId: string) =>
      makeChange(store, (trx, version) =>
        writeAudit(trx, version, { at: 1, actor: 'cli', action: 'key.create', keyId, detail: {} }),
      );
    const missing = async () => {
      const rows = await store.db.selectFrom('audit').select(['id', 'key_id']).orderBy('id').execute();
      return rows.flatMap(({ id, key_id }) => (written.has(id) ? [] : [key_id]));
    };
    for (let index = 0; index < 5; index++) await change(`key-${index}`);
    const first = openCopy();
    await first.runOnce();
    await change('later');
    await first.runOnce();
    expect([await missing(), first.isIncomplete, states]).toEqual([['key-1'], true, [false]]);
    const before = inserts;
    await first.runOnce();
    expect(inserts).toBe(before);
    poison = 'none';
    clock.now += LEASE_MS;
    const second = openCopy();
    await second.runOnce();
    expect([await missing(), second.isIncomplete]).toEqual([[], false]);
    await first.runOnce();
    expect([first.isIncomplete, states]).toEqual([false, [false, true]]);
    for (const copy of [first, second]) await copy.stop();
    await server.close();
    fake.close();
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
