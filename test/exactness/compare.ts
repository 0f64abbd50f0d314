import type { LooseJson } from '../control/accounts/accounts-fixture.ts';
import type { OperatorApi } from '../service/operator-token.ts';
import { type ClientCounts, type Sums, totalOf } from './client-counts.ts';
import type { Customer } from './mixed-calls.ts';

/** A total that a page shows, and what the clients counted. */
export type Comparison = Readonly<{ page: string; counted: Sums; shown: Sums }>;

const without = (sums: Record<string, number>): Sums =>
  Object.fromEntries(Object.entries(sums).filter(([, count]) => count !== 0));

function sumsOf(rows: readonly LooseJson[], name: string, count = 'requests'): Sums {
  const sums: Record<string, number> = {};
  for (const row of rows) sums[row[name]] = (sums[row[name]] ?? 0) + Number(row[count]);
  return without(sums);
}

/** Requests by method or key in the rows of a CSV export, whose fields have no commas here. */
function csvSums(text: string, column: string): Sums {
  const [head = '', ...lines] = text.trim().split(/\r?\n/);
  const names = head.split(',');
  const rows = lines.map((line) =>
    Object.fromEntries(line.split(',').map((field, at) => [names[at], field])),
  );
  return sumsOf(rows as unknown as LooseJson[], column);
}

const sortedText = (sums: Sums): string => JSON.stringify(Object.entries(sums).toSorted());
export const isEqual = ({ counted, shown }: Comparison): boolean => sortedText(counted) === sortedText(shown);

/** Reads every page and route with totals of usage. */
export class PageTotals {
  readonly #api: OperatorApi;
  readonly #counts: ClientCounts;
  readonly #range: string;
  readonly #customers: readonly Customer[];
  #found: Comparison[] = [];

  constructor(api: OperatorApi, counts: ClientCounts, from: number, customers: readonly Customer[]) {
    this.#api = api;
    this.#counts = counts;
    this.#range = `from=${from}&to=${Date.now() + 60_000}`;
    this.#customers = customers;
  }

  /** @param isFresh - whether the service had no other traffic, so that totals across all customers are comparable. */
  async compareAll(isFresh: boolean): Promise<readonly Comparison[]> {
    await this.compareCustomers();
    for (const customer of this.#customers) await this.#compareCustomer(customer);
    if (isFresh) await this.#compareFleet();
    return this.#found;
  }

  /** Compares the totals of customers and keys in the lists across all customers. */
  async compareCustomers(): Promise<readonly Comparison[]> {
    this.#found = [];
    const ids = new Set(
      this.#customers.flatMap(({ id, rpc, restricted, grpc }) => [id, rpc.id, restricted.id, grpc.id]),
    );
    const owned = (sums: Sums): Sums =>
      Object.fromEntries(Object.entries(sums).filter(([name]) => ids.has(name)));
    for (const by of ['customer', 'key'] as const) {
      const { rows } = await this.#read(`/usage/top?limit=200&by=${by}`);
      this.#note(`All customers by ${by}`, owned(this.#counts.by(by)), owned(sumsOf(rows, 'name')));
    }
    return this.#found;
  }

  #read(path: string): Promise<LooseJson> {
    const separator = path.includes('?') ? '&' : '?';
    return this.#api.sendRequest('GET', `${path}${separator}${this.#range}`);
  }

  #note(page: string, counted: Sums | number, shown: Sums | number): void {
    const sums = (value: Sums | number): Sums => (typeof value === 'number' ? { all: value } : value);
    this.#found.push({ page, counted: sums(counted), shown: sums(shown) });
  }

  async #compareCustomer({ id, rpc, restricted, grpc }: Customer): Promise<void> {
    const own = { customer: id };
    const by = (dimension: 'key' | 'method' | 'network' | 'code', isFailed = false): Sums =>
      this.#counts.by(dimension, own, isFailed);
    const all = totalOf(by('key'));
    const failed = totalOf(by('code', true));
    const path = `/customers/${id}`;
    const { now, byStatus, credits } = await this.#read(`${path}/summary`);
    this.#note('Home: requests', all, now.requests);
    this.#note('Home: successful requests', all - failed, now.ok);
    this.#note('Home: requests by outcome', all, totalOf(Object.values<number[]>(byStatus).flat() as never));
    this.#note('Home: messages', this.#counts.messagesOf(own), now.messages);
    for (const dimension of ['key', 'method'] as const) {
      const { series } = await this.#read(`${path}/usage?by=${dimension}`);
      const rows = series.map(({ name, totals }: LooseJson) => ({ name, ...totals }));
      this.#note(`Usage by ${dimension}`, by(dimension), sumsOf(rows, 'name'));
    }
    const csv = await this.#api.sendText('GET', `${path}/usage.csv?${this.#range}`);
    this.#note('Usage: CSV by method', by('method'), csvSums(csv, 'method'));
    this.#note('Usage: CSV by key', by('key'), csvSums(csv, 'key'));
    const { methods } = await this.#read(`${path}/performance`);
    this.#note('Performance by method', by('method'), sumsOf(methods, 'method'));
    const { rows, codes } = await this.#read(`${path}/errors`);
    this.#note('Errors by method', by('method', true), sumsOf(rows, 'method'));
    this.#note('Errors by key', by('key', true), sumsOf(rows, 'key'));
    this.#note('Errors by code', by('code', true), sumsOf(codes, 'code'));
    for (const dimension of ['key', 'method', 'network', 'code'] as const) {
      const top = await this.#read(`${path}/usage/top?limit=200&by=${dimension}`);
      this.#note(`Top by ${dimension}`, by(dimension, dimension === 'code'), sumsOf(top.rows, 'name'));
      if (dimension === 'key')
        this.#note('Credits by key', totalOf(credits), totalOf(sumsOf(top.rows, 'name', 'credits')));
    }
    const { days } = await this.#api.sendRequest<LooseJson>('GET', `${path}/quota`);
    this.#note('Quota: credits by day', totalOf(credits), totalOf(sumsOf(days, 'day', 'credits')));
    for (const { id: key } of [rpc, restricted, grpc]) {
      const { totals } = await this.#read(`${path}/usage?key=${key}`);
      this.#note('Key: requests', totalOf(this.#counts.by('key', { key })), totals.requests);
      this.#note('Key: messages', this.#counts.messagesOf({ key }), totals.messages);
      const errors = await this.#read(`${path}/errors?key=${key}`);
      this.#note('Key: errors by code', this.#counts.by('code', { key }, true), sumsOf(errors.codes, 'code'));
    }
  }

  async #compareFleet(): Promise<void> {
    const all = totalOf(this.#counts.by('customer'));
    const { now } = await this.#read('/usage/summary');
    this.#note('All customers: requests', all, now.requests);
    this.#note('All customers: messages', this.#counts.messagesOf({}), now.messages);
    for (const by of ['method', 'network', 'code'] as const) {
      const { rows } = await this.#read(`/usage/top?limit=200&by=${by}`);
      this.#note(`All customers by ${by}`, this.#counts.by(by, {}, by === 'code'), sumsOf(rows, 'name'));
    }
    const { rows } = await this.#read('/usage/top?by=gateway');
    this.#note('All customers by gateway', all, totalOf(sumsOf(rows, 'name')));
  }
}
