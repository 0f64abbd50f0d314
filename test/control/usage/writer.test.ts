import { expect, it } from 'vitest';
import { BUCKET_COUNT } from '../../../src/base/histogram.ts';
import type { Store } from '../../../src/control/database/open.ts';
import { storedUsage, upsertUsage } from '../../../src/control/usage/usage-rows.ts';
import { UsageWriter, type UsageWriterOptions } from '../../../src/control/usage/usage-writer.ts';
import type { KeyId } from '../../../src/gateway/auth/key-record.ts';
import { type CompletedCall, UsageMeter, type UsageRow } from '../../../src/gateway/metering/usage-meter.ts';
import { describeOnBothStores } from '../stores.ts';

const RECENT = Math.floor(Date.now() / 60_000) * 60_000 - 600_000;

const call = (fields: Partial<CompletedCall> = {}): CompletedCall => ({
  key: { id: 'AAAAAAAA' as KeyId },
  product: 'rpc',
  method: 'getSlot',
  status: 'ok',
  bytesIn: 10,
  bytesOut: 20,
  credits: 1,
  latencyMicros: 500,
  ...fields,
});

const row = (fields: Partial<UsageRow> = {}) =>
  storedUsage({
    keyId: 'AAAAAAAA' as KeyId,
    product: 'rpc',
    method: 'getSlot',
    status: 'ok',
    minute: 100,
    requests: 1,
    bytesIn: 1,
    bytesOut: 1,
    credits: 1,
    messages: 0,
    latency: new Uint32Array(BUCKET_COUNT),
    ...fields,
  });

async function totals(store: Store) {
  const rows = await store.db.selectFrom('usage_minute').selectAll().execute();
  const sum = (name: 'requests' | 'bytes_in' | 'bytes_out' | 'credits') =>
    rows.reduce((total, one) => total + one[name], 0);
  return {
    rows: rows.length,
    requests: sum('requests'),
    bytesIn: sum('bytes_in'),
    bytesOut: sum('bytes_out'),
    credits: sum('credits'),
  };
}

function writerOn(store: Store, options: Partial<UsageWriterOptions> = {}) {
  const meter = new UsageMeter();
  const away = { now: false };
  const watched = {
    ...store,
    get db() {
      if (away.now) throw new Error('the database is unreachable');
      return store.db;
    },
  };
  return { meter, away, writer: new UsageWriter({ store: watched, source: meter, ...options }) };
}

describeOnBothStores('usage', ({ open }) => {
  it('is stored as counted, over minutes, methods and statuses', async () => {
    const store = await open();
    const { meter, writer } = writerOn(store, { batchRows: { sqlite: 2, postgres: 2 } });
    const start = RECENT;
    for (let count = 0; count < 90; count++) {
      const method = ['getSlot', 'getBalance', 'unheardOf'][count % 3]!;
      meter.record(call({ method, status: count % 2 ? 'ok' : 'upstream' }), start + count * 2_000);
      if (count % 7 === 0) await writer.flush();
    }
    meter.record(call({ key: null, status: 'client' }), start + 200_000);
    await writer.stop();
    expect(await totals(store)).toMatchObject({ requests: 91, bytesIn: 910, bytesOut: 1_820, credits: 91 });
    const methods = await store.db.selectFrom('usage_minute').select('method').distinct().execute();
    expect(methods.map(({ method }) => method).toSorted()).toEqual(['getBalance', 'getSlot', 'other']);
    expect(writer.pendingRows).toBe(0);
  });

  it('grows when only one of its counters grows, and does not shrink by late rows', async () => {
    const store = await open();
    const counters = { requests: 'requests', messages: 'messages', credits: 'credits' } as const;
    for (const [count, column] of Object.entries({
      ...counters,
      bytesIn: 'bytes_in',
      bytesOut: 'bytes_out',
    })) {
      const [before, after] = [row({ [count]: 3 }), row({ [count]: 4 })];
      for (const one of [before, after, before])
        await store.db.transaction().execute((trx) => upsertUsage(trx, count, [one]));
      const query = store.db.selectFrom('usage_minute').selectAll().where('epoch', '=', count);
      expect(await query.execute()).toMatchObject([{ [column]: 4 }]);
    }
  });

  it('drops and counts the oldest rows when the store is unreachable for too long', async () => {
    const store = await open();
    const { meter, writer, away } = writerOn(store, { pendingRowsMax: 3 });
    away.now = true;
    for (let count = 0; count < 5; count++) {
      meter.record(call(), RECENT + count * 60_000);
      await writer.flush();
    }
    away.now = false;
    await writer.flush();
    expect([writer.lostRows, await totals(store)]).toMatchObject([2, { rows: 3 }]);
  });
});
