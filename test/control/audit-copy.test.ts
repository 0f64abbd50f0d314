import { expect, it } from 'vitest';
import { AuditCopy } from '../../src/control/clickhouse/audit-copy.ts';
import { ClickHouse } from '../../src/control/clickhouse/client.ts';
import { makeChange, writeAudit } from '../../src/control/database/transaction.ts';
import { describeOnClickHouse, sharedClickHouse } from './clickhouse-server.ts';

/** Longer than a lease. */
const LEASE_MS = 60_000;

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
