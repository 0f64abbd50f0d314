import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { Store } from '../../src/control/database/open.ts';
import { LogRetention } from '../../src/control/requests/log-retention.ts';
import type { Submission } from '../../src/gateway/telemetry/submission-log.ts';
import { createRequestWriter, requestEntry, submissionOf } from './request-writer-fixture.ts';
import { describeOnBothStores } from './stores.ts';

const entry = requestEntry;
const submission = submissionOf();

const rows = async ({ db }: Store) => db.selectFrom('request_log').selectAll().orderBy('id').execute();

/** A store whose inserts fail before or after they are executed. */
function storeThat(store: Store, insert: (done: () => Promise<unknown>) => Promise<unknown>): Store {
  return {
    ...store,
    db: new Proxy(store.db, {
      get(target, name) {
        const value = Reflect.get(target, name) as unknown;
        if (name !== 'insertInto') return typeof value === 'function' ? value.bind(target) : value;
        return (table: 'request_log') => {
          const query = (made: { execute(): Promise<unknown> }): unknown =>
            new Proxy(made, {
              get(inner, step) {
                const member = Reflect.get(inner, step) as (...given: unknown[]) => never;
                if (step === 'execute') return () => insert(() => inner.execute());
                return (...given: unknown[]) => query(member.apply(inner, given));
              },
            });
          return query(target.insertInto(table));
        };
      },
    }),
  };
}

describeOnBothStores('the request writer', (stores) => {
  it('skips rows that the database rejects, and no others', async () => {
    const store = await stores.open();
    await sql`create unique index one_slow on request_log (micros)`.execute(store.db);
    const states: (unknown | null)[] = [];
    const { log, sent, writer } = createRequestWriter(store, {
      batchRows: 3,
      onState: (state) => states.push(state),
    });
    log.push(...[1, 2, 2, 3, 4, 4, 5, 6].map((micros) => entry({ micros })));
    sent.push(submission);
    await writer.flush();
    expect((await rows(store)).map(({ micros }) => micros)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(writer.rejected).toBe(2);
    expect(await store.db.selectFrom('submission').select('signature').execute()).toHaveLength(1);
    log.push(entry({ micros: 7 }));
    await writer.flush();
    expect(await rows(store)).toHaveLength(7);
    expect([states, writer.dropped]).toEqual([[], 0]);
  });

  it('is written once when the reply to a commit was lost', async () => {
    const store = await stores.open();
    let lost = 0;
    const far = storeThat(store, async (insert) => {
      const result = await insert();
      if (lost++ < 2) throw new Error('Connection terminated unexpectedly');
      return result;
    });
    const { log, sent, writer } = createRequestWriter(far);
    log.push(entry());
    sent.push(submission);
    await writer.flush();
    log.push(entry({ method: 'getSlot' }));
    await writer.flush();
    expect((await rows(store)).map(({ method }) => method)).toEqual(['getBalance', 'getSlot']);
    expect(await store.db.selectFrom('submission').select('signature').execute()).toHaveLength(1);
    expect(writer.rejected).toBe(0);
  });

  // The others do not depend on the dialect.
  if (stores.kind === 'postgres') return;

  it('has one row per transaction that is updated while the store is unreachable', async () => {
    const store = await stores.open();
    let isAway = true;
    const far = storeThat(store, async (insert) => {
      if (isAway) throw new Error('away');
      return insert();
    });
    const { sent, writer } = createRequestWriter(far, { onState: () => {} });
    const one: Submission = { ...submission };
    sent.push(one);
    await writer.flush();
    one.result = { name: 'expired', slot: null, err: null, rebroadcasts: 7, rebroadcastAttempts: [] };
    sent.push(one);
    isAway = false;
    await writer.flush();
    const retained = await store.db.selectFrom('submission').select(['fate', 'rebroadcasts']).execute();
    expect([retained, writer.rejected]).toEqual([[{ fate: 'expired', rebroadcasts: 7 }], 0]);
  });
});

describeOnBothStores('the stored request log', (stores) => {
  const writeAt = async (store: Store, customerId: string, from: number, count: number) => {
    const { log, writer } = createRequestWriter(store);
    log.push(
      ...Array.from({ length: count }, (_, nth) => entry({ customerId, at: from + nth, micros: nth })),
    );
    await writer.flush();
  };
  const left = async (store: Store, customer: string) =>
    (await rows(store)).filter((row) => row.customer_id === customer).map(({ micros }) => micros);

  it('is counted incrementally, whichever gateway wrote it', async () => {
    const store = await stores.open();
    const now = Date.now();
    const limits = { retentionHours: 1, customerRowsMax: 150, rowsMax: 200 };
    const retention = new LogRetention(store, limits);
    await writeAt(store, 'anna', now - 600_000, 130);
    await retention.prune(now - 550_000);
    expect(await left(store, 'anna')).toHaveLength(130);
    await writeAt(store, 'anna', now - 500_000, 30);
    await writeAt(store, 'ben', now - 400_000, 60);
    // Ten of anna's exceed the customer limit; ten more exceed the total.
    await retention.prune(now);
    expect([(await left(store, 'anna')).length, (await left(store, 'ben')).length]).toEqual([140, 60]);
  });

  it('is pruned by one gateway at a time', async () => {
    const store = await stores.open();
    const now = Date.now();
    const limits = { retentionHours: 1, customerRowsMax: 1, rowsMax: 10 };
    const first = new LogRetention(store, limits);
    const second = new LogRetention(store, limits);
    await first.prune(now);
    await writeAt(store, 'anna', now - 600_000, 3);
    await second.prune(now + 60_000);
    expect(await left(store, 'anna')).toEqual([0, 1, 2]);
    await first.stop();
    await second.prune(now + 120_000);
    expect(await left(store, 'anna')).toEqual([2]);
  });
});
