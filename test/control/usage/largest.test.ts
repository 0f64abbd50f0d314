import { expect, it } from 'vitest';
import type { Store } from '../../../src/control/database/store.ts';
import {
  axisOver,
  type GroupColumn,
  LATENCY_ROWS_MAX,
  type LatencyRow,
  readLatencyRows,
  type UsageFilter,
} from '../../../src/control/usage/read-usage.ts';
import { databaseUsage } from '../../../src/control/usage/usage-reader.ts';
import type { StoredUsage } from '../../../src/control/usage/usage-rows.ts';
import { parseHistogram } from '../../../src/control/usage/usage-sums.ts';
import { describeOnBothStores } from '../stores.ts';
import { addKeys, rollUpAt, usageRow, write } from './usage-fixture.ts';

const DAY_MINUTES = 1_440;
/** A day at which the indexes of usage_day begin another block, in November 2026. */
const BLOCK_DAY = 649 * 32;
const START = (BLOCK_DAY - 3) * DAY_MINUTES;

const customerOfKey: Readonly<Record<string, string>> = {
  ...{ AAAAAAAA: 'acme', BBBBBBBB: 'acme', CCCCCCCC: 'other', DDDDDDDD: 'acme' },
};
const outcomes = [
  { status: 'ok', code: '' },
  { status: 'rpcError', code: '-32602' },
  { status: 'limited', code: 'RATE_LIMITED', credits: 0, latency: '' },
] as const;

/** Usage of some minutes of six days, with different counts in each row. */
function someRows(seed: number, count: number, minutes: number): StoredUsage[] {
  const rows: StoredUsage[] = [];
  for (let nth = 0; nth < count; nth++) {
    const at = nth * 7 + seed;
    const requests = 1 + ((at * 13) % 50);
    rows.push(
      usageRow({
        ...{
          minute: START + (nth % minutes) * 959 + (seed % 7),
          requests,
          latency: `${at % 60}:${requests}`,
        },
        keyId: ([...Object.keys(customerOfKey), null] as const)[nth % 5]!,
        method: at % 3 === 0 ? 'getBlock' : 'getSlot',
        network: ([null, 'devnet', 'testnet'] as const)[Math.floor(nth / 5) % 3]!,
        messages: at % 4,
        ...outcomes[Math.floor(nth / 15) % 3],
      }),
    );
  }
  return rows;
}

const ownerOf = ({ keyId }: StoredUsage): string => (keyId === null ? 'house' : customerOfKey[keyId]!);

const nameIn: Readonly<Partial<Record<GroupColumn, (row: StoredUsage) => string>>> = {
  key_id: ({ keyId }) => keyId ?? '',
  customer_id: ownerOf,
  network: ({ network }) => network ?? '',
  code: ({ code }) => code,
  method: ({ method }) => method,
};

const filters: readonly UsageFilter[] = [
  { customerId: null },
  { customerId: 'acme' },
  { customerId: 'acme', failed: true },
  { customerId: null, method: 'getSlot' },
  { customerId: 'acme', network: 'testnet' },
];

const includes = (filter: UsageFilter, row: StoredUsage): boolean =>
  (filter.customerId === null || ownerOf(row) === filter.customerId) &&
  (filter.failed !== true || row.status !== 'ok') &&
  (filter.method === undefined || row.method === filter.method) &&
  (filter.network === undefined || row.network === filter.network);

/** Whole days, minutes within days on both sides of the edge, one block, and a range without whole days. */
const ranges = [
  [START, START + 6 * DAY_MINUTES],
  [START + 700, START + 5 * DAY_MINUTES + 61],
  [START + 3 * DAY_MINUTES, START + 5 * DAY_MINUTES],
  [START + 3 * DAY_MINUTES - 90, START + 3 * DAY_MINUTES + 500],
] as const;

type Sum = { name: string; requests: number; errors: number; credits: number; messages: number };

function addTo(histogram: Map<number, number>, latency: string): void {
  const { buckets, counts } = parseHistogram(latency);
  for (const [at, bucket] of buckets.entries())
    histogram.set(bucket, (histogram.get(bucket) ?? 0) + counts[at]!);
}

async function compareAll(store: Store, rows: readonly StoredUsage[]): Promise<void> {
  const usage = databaseUsage(store);
  // Each column and filter meets each range of a call, but not each other.
  for (const [at, [from, to]] of ranges.entries())
    for (const [nth, column] of (Object.keys(nameIn) as GroupColumn[]).entries())
      for (const filter of [
        filters[(at + nth) % filters.length]!,
        filters[(at + nth + 2) % filters.length]!,
      ]) {
        const sums = new Map<string, Sum>();
        const histograms = new Map<string, Map<number, number>>();
        for (const row of rows) {
          if (row.minute < from || row.minute >= to || !includes(filter, row)) continue;
          const name = nameIn[column]!(row);
          const sum = sums.get(name) ?? { name, requests: 0, errors: 0, credits: 0, messages: 0 };
          sum.requests += row.requests;
          sum.errors += row.status === 'ok' ? 0 : row.requests;
          sum.credits += row.credits;
          sum.messages += row.messages;
          sums.set(name, sum);
          if (row.latency === '') continue;
          const histogram = histograms.get(name) ?? new Map<number, number>();
          addTo(histogram, row.latency);
          histograms.set(name, histogram);
        }
        const expected = [...sums.values()].sort(
          (a, b) => b.requests - a.requests || b.messages - a.messages || (a.name < b.name ? -1 : 1),
        );
        const query = { axis: axisOver('minute', from * 60_000, to * 60_000), filter };
        const label = `${column} of ${JSON.stringify(filter)} from ${from - START} to ${to - START}`;
        expect(await usage.readLargest(query, column, 'traffic', 4), label).toEqual(expected.slice(0, 4));
        const found = new Map<string, Map<number, number>>();
        const by = { column, values: [...sums.keys(), 'absent'] };
        const addRow = (row: LatencyRow): void => {
          expect(row.at).toBe(0);
          const histogram = found.get(row.name) ?? new Map<number, number>();
          addTo(histogram, row.latency);
          found.set(row.name, histogram);
        };
        await readLatencyRows(store, query, by, addRow, at === 1 ? 2 : LATENCY_ROWS_MAX);
        expect(found, label).toEqual(histograms);
      }
}

describeOnBothStores('the largest groups', ({ open }) => {
  it('have the sums of all rows, after roll-ups, late rows and the deletion of a key', async () => {
    const store = await open();
    await addKeys(store, 'acme', { AAAAAAAA: 'default', BBBBBBBB: 'default', DDDDDDDD: 'default' });
    await addKeys(store, 'other', { CCCCCCCC: 'default' });
    const [early, late] = [someRows(1, 45, 9), someRows(1_000, 8, 4)];
    await write(store, early, 'one');
    await rollUpAt(store, (START + 8 * DAY_MINUTES) * 60_000);
    await store.db.deleteFrom('api_key').where('id', '=', 'DDDDDDDD').execute();
    await compareAll(store, early);
    const all = [...early, ...late.filter(({ keyId }) => keyId !== 'DDDDDDDD')];
    await write(store, all.slice(early.length), 'two');
    await compareAll(store, all);
    await rollUpAt(store, (START + 8 * DAY_MINUTES) * 60_000);
    await compareAll(store, all);
  });

  it('are compared by histograms of few rows at once, also of minutes that are not rolled up', async () => {
    const store = await open();
    const minutes = [0, 1, 2, 3].map((at) => START + at);
    const rows = minutes.flatMap((minute) => [null, 'AAAAAAAA'].map((keyId) => usageRow({ minute, keyId })));
    await write(store, rows);
    const axis = { step: 'minute', from: START, to: START + 60 } as const;
    const read = async (rowsMax: number): Promise<number[]> => {
      const counts: number[] = [];
      const by = { column: 'method' as const, values: ['getSlot'] };
      const onRow = ({ latency }: LatencyRow) => void counts.push(latency.split(',').length);
      await readLatencyRows(store, { axis, filter: { customerId: null } }, by, onRow, rowsMax);
      return counts;
    };
    expect([await read(8), await read(7), await read(1)]).toEqual([[8], [4, 4], [2, 2, 2, 2]]);
  });
});
