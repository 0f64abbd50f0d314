import { isDeepStrictEqual } from 'node:util';
import { type ClickHouse, listOf, textLiteral } from '../../clickhouse/client.ts';
import type { ClickHouseTables } from '../../clickhouse/tables.ts';
import type { Store } from '../../database/store.ts';
import type { UsageStep } from '../../database/tables/usage.ts';
import { type LargestOrder, largestOf, selectLargest } from '../largest-order.ts';
import {
  type Axis,
  type GroupColumn,
  LATENCY_STATUSES,
  type LatencyGroup,
  type LatencyRow,
  lengthOf,
  listedIn,
  type OnSum,
  readLatencyRows,
  readSums,
  type Segment,
  segmentsFor,
  stepMs,
  type UsageFilter,
  type UsageQuery,
  type UsageSum,
} from '../read-usage.ts';
import type { Largest, UsageReader } from '../usage-reader.ts';
import { accountsOf } from '../usage-rows.ts';
import { counterColumns } from '../usage-sums.ts';
import { type Level, levels, tableOf } from './usage-tables.ts';

const sums = counterColumns.map((name) => `sum(${name}) as ${name}`).join(', ');

function levelOf({ customerId, keys }: UsageFilter, columns: readonly GroupColumn[]): Level {
  // Only this level has runs.
  if (columns.includes('epoch')) return 'fleet';
  if (keys !== undefined || columns.includes('key_id')) return 'detail';
  return customerId !== null || columns.includes('customer_id') ? 'customer' : 'fleet';
}

const indexIn = (steps: Axis | null, { step }: Segment): string =>
  steps === null ? '0' : `intDiv(bucket, ${stepMs[steps.step] / stepMs[step]}) - ${steps.from}`;

/** Names of parts that are the whole of their day. Reads of them skip merging, which takes most of the time. */
type MergedParts = ReadonlyMap<UsageStep, readonly string[]>;

type Latency = readonly [buckets: readonly number[], counts: readonly number[]];

const latencyText = ([buckets, counts]: Latency): string =>
  buckets.map((bucket, at) => `${bucket}:${counts[at]}`).join(',');

/** Reads usage from ClickHouse, and from the database what runs without ClickHouse wrote there. */
export class ClickHouseUsage implements UsageReader {
  readonly #store: Store;
  readonly #server: ClickHouse;
  readonly #tables: ClickHouseTables;

  /** @param server - with connections of its own, so that no number of reads delays writes. */
  constructor(store: Store, server: ClickHouse, tables: ClickHouseTables) {
    this.#store = store;
    this.#server = server;
    this.#tables = tables;
  }

  async readSums<Name extends GroupColumn>(
    query: UsageQuery,
    groupBy: readonly Name[],
    onRow: OnSum<Name>,
    steps: Axis | null = query.axis,
  ): Promise<void> {
    const earlier = await this.#detailsInDatabase(query);
    if (earlier !== null) await readSums(this.#store, earlier, groupBy, onRow, steps);
    const columns = [...groupBy, ...counterColumns, 'last_minute'];
    const groups = ['at', ...groupBy].join(', ');
    const select = `select ${groups}, ${sums}, max(last_minute) as last_minute`;
    const rows = await this.#read<UsageSum<Name>>(query, groupBy, steps, {
      ...{ select, columns, end: `group by ${groups}` },
    });
    for (const row of rows) onRow(row);
  }

  async readLatencies(
    given: UsageQuery,
    by: LatencyGroup | null,
    onRow: (row: LatencyRow) => void,
  ): Promise<void> {
    const earlier = await this.#detailsInDatabase(given);
    if (earlier !== null) await readLatencyRows(this.#store, earlier, by, onRow);
    const { query, values, steps } = listedIn(given, by);
    const column = by?.column;
    const name = column ?? "''";
    const listed = values === undefined ? [] : [`${name} in ${listOf(values.map(textLiteral))}`];
    const statuses = listOf(LATENCY_STATUSES.map(textLiteral));
    const select =
      'select at, name, product_name as product, sumMap(latency_buckets, latency_counts) as latency';
    const columns = [`${name} as name`, 'product as product_name', 'latency_buckets', 'latency_counts'];
    const rows = await this.#read<Omit<LatencyRow, 'latency'> & { latency: Latency }>(
      query,
      column === undefined ? [] : [column],
      steps,
      {
        ...{ select, columns, end: 'group by at, name, product_name' },
        conditions: [`status in ${statuses}`, 'notEmpty(latency_buckets)', ...listed],
      },
    );
    for (const row of rows) onRow({ ...row, latency: latencyText(row.latency) });
  }

  async readLargest(
    query: UsageQuery,
    column: GroupColumn,
    order: LargestOrder,
    limit: number,
  ): Promise<Largest[]> {
    if ((await this.#detailsInDatabase(query)) !== null)
      return this.#readLargestOfBoth(query, column, order, limit);
    const select =
      'select * from (select name, sum(r) as requests, sum(e) as errors, sum(c) as credits, sum(m) as messages';
    const columns = [
      ...[`${column} as name`, 'requests as r', 'credits as c', 'messages as m'],
      "if(status = 'ok', toUInt64(0), requests) as e",
    ];
    const end = `group by name) ${selectLargest(order, limit)}`;
    return this.#read<Largest>(query, [column], null, { select, columns, end });
  }

  /** Sorts all groups here, because the largest of both may not be the largest of one. */
  async #readLargestOfBoth(
    query: UsageQuery,
    column: GroupColumn,
    order: LargestOrder,
    limit: number,
  ): Promise<Largest[]> {
    const groups = new Map<string, Largest>();
    const add = (row: UsageSum<GroupColumn>): void => {
      const { [column]: name, status, requests, credits, messages } = row;
      const before = groups.get(name) ?? { name, requests: 0, errors: 0, credits: 0, messages: 0 };
      groups.set(name, {
        name,
        requests: before.requests + requests,
        errors: before.errors + (status === 'ok' ? 0 : requests),
        credits: before.credits + credits,
        messages: before.messages + messages,
      });
    };
    await this.readSums(query, [column, 'status'], add, null);
    return largestOf(groups.values(), order, limit);
  }

  /** The part of a query for which the database has details; null: none. */
  async #detailsInDatabase({ axis, filter }: UsageQuery): Promise<UsageQuery | null> {
    const row = await this.#store.db
      .selectFrom('usage_epoch')
      .select(({ fn }) => fn.max<number | null>('written_at').as('at'))
      .where('detailed', '=', 1)
      .executeTakeFirst();
    const end = Math.floor(Number(row?.at ?? Number.NEGATIVE_INFINITY) / stepMs[axis.step]) + 1;
    const earlier = { ...axis, to: Math.min(axis.to, end) };
    return lengthOf(earlier) > 0 ? { axis: earlier, filter: { ...filter, hasDetails: true } } : null;
  }

  /** @param steps - null: treats the whole axis as one step. */
  async #read<Row>(
    { axis, filter }: UsageQuery,
    groupBy: readonly GroupColumn[],
    steps: Axis | null,
    statement: Readonly<{
      select: string;
      columns: readonly string[];
      conditions?: readonly string[];
      end: string;
    }>,
  ): Promise<Row[]> {
    const level = levelOf(filter, groupBy);
    const conditions = [...(await this.#conditionsOf(filter)), ...(statement.conditions ?? [])];
    const segments = await segmentsFor(this.#store.db, 'clickhouse', axis, steps === null);
    const bySteps = Map.groupBy(segments, ({ step }) => step);
    if (segments.length === 0) return [];
    const query = async (merged: MergedParts): Promise<Row[]> => {
      const parts = [...bySteps].flatMap(([step, some]) => {
        const ranges = some.map(({ from, to }) => `(bucket >= ${from} and bucket < ${to})`).join(' or ');
        const ofLevel = step === 'minute' ? [] : [`level = ${levels[level]}`];
        const select = `select ${[`${indexIn(steps, some[0]!)} as at`, ...statement.columns].join(', ')}
          from ${tableOf(step)}`;
        const where = [...ofLevel, `(${ranges})`, ...conditions].join(' and ');
        const names = merged.get(step);
        if (names === undefined) return [`${select} final where ${where}`];
        return [
          `${select} where _part in ${listOf(names)} and ${where}`,
          `${select} final where _part not in ${listOf(names)} and ${where}`,
        ];
      });
      const text = `${statement.select} from (${parts.join(' union all ')}) ${statement.end}`;
      return (await this.#server.query<Row>(text)).rows;
    };
    return this.#tables.read(async () => {
      const merged = await this.#mergedParts(bySteps);
      const rows = await query(merged);
      // Meanwhile, a day may have got a second part with the same rows.
      return isDeepStrictEqual(await this.#mergedParts(bySteps), merged) ? rows : query(new Map());
    });
  }

  async #mergedParts(bySteps: ReadonlyMap<UsageStep, readonly Segment[]>): Promise<MergedParts> {
    const merged = new Map<UsageStep, string[]>();
    for (const [step, segments] of bySteps) {
      const perDay = stepMs.day / stepMs[step];
      const [first, last] = [segments[0]!.from, segments.at(-1)!.to - 1];
      const { rows } = await this.#server.query<{ part: string }>(
        `select any(name) as part from system.parts
          where active and database = currentDatabase() and table = '${tableOf(step)}'
            and toInt64OrZero(partition) between ${Math.floor(first / perDay)} and ${Math.floor(last / perDay)}
          group by partition having count() = 1 and min(level) > 0 order by part`,
      );
      const names = rows.map(({ part }) => textLiteral(part));
      if (names.length > 0) merged.set(step, names);
    }
    return merged;
  }

  async #conditionsOf(filter: UsageFilter): Promise<string[]> {
    const { customerId, keys, product, method, network, code, failed } = filter;
    if (filter.planId !== undefined) throw new Error('ClickHouse has no plans');
    const equals = (column: string, value: string | undefined): string[] =>
      value === undefined ? [] : [`${column} = ${textLiteral(value)}`];
    return [
      ...(keys === undefined
        ? equals('customer_id', customerId ?? undefined)
        : await this.#keyConditions(keys)),
      ...equals('product', product),
      ...equals('method', method),
      ...equals('network', network),
      ...equals('code', code),
      ...(failed === true ? ["status != 'ok'"] : []),
    ];
  }

  /** Names also the customers of the keys, because rows are sorted by customer. */
  async #keyConditions(keys: readonly string[]): Promise<string[]> {
    const accounts = await accountsOf(
      this.#store.db,
      keys.map((key) => ({ keyId: key === '' ? null : key })),
    );
    const customers = new Set(['', ...[...accounts.values()].map(({ customer_id }) => customer_id)]);
    return [
      `customer_id in ${listOf([...customers].map(textLiteral))}`,
      `key_id in ${listOf(keys.map(textLiteral))}`,
    ];
  }
}
