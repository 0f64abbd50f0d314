import type { UsageMeter, UsageRow } from '../../gateway/metering/usage-meter.ts';

const counters = ['requests', 'bytesIn', 'bytesOut', 'credits', 'messages'] as const;
type Counts = Record<(typeof counters)[number], number>;

const noLatency = new Uint32Array();

const dimensionsOf = ({ minute, keyId, product, method, status, network, code }: UsageRow): string =>
  `${minute} ${keyId ?? ''} ${product} ${method} ${status} ${network ?? ''} ${code}`;

/** Running totals of a row without method, network, code and latency. */
type Total = Omit<UsageRow, keyof Counts> & Counts;

const zeroTotal = ({ minute, keyId, product, status }: UsageRow): Total => ({
  ...{ minute, keyId, product, status, method: '', network: null, code: '', latency: noLatency },
  ...{ requests: 0, bytesIn: 0, bytesOut: 0, credits: 0, messages: 0 },
});

/** Splits metered usage into details for ClickHouse and totals for the database, which suffice for quotas and bills. */
export class UsageSplit {
  readonly #meter: Pick<UsageMeter, 'drain'>;
  /** Totals, and the details already added to them, of the minutes whose rows may still change. */
  readonly #totals = new Map<string, Total>();
  readonly #seen = new Map<string, Counts & { readonly minute: number }>();
  /** Latest state of the rows that each side has not drained yet. */
  readonly #changed = { totals: new Map<string, UsageRow>(), details: new Map<string, UsageRow>() };
  /** The newest minute of a drained row. */
  #newest = 0;
  readonly totals = { drain: () => this.#drain('totals') };
  readonly details = { drain: () => this.#drain('details') };

  constructor(meter: Pick<UsageMeter, 'drain'>) {
    this.#meter = meter;
  }

  #drain(side: 'totals' | 'details'): UsageRow[] {
    let newest = 0;
    for (const row of this.#meter.drain()) {
      newest = Math.max(newest, row.minute);
      this.#add(row);
    }
    if (newest > this.#newest) this.#forgetBefore(newest);
    const rows = [...this.#changed[side].values()];
    this.#changed[side].clear();
    return rows;
  }

  /** The meter returns the rows of past minutes only once. */
  #forgetBefore(newest: number): void {
    this.#newest = newest;
    for (const rows of [this.#totals, this.#seen])
      for (const [name, { minute }] of rows) if (minute < newest) rows.delete(name);
  }

  #add(row: UsageRow): void {
    const name = dimensionsOf(row);
    const total = this.#totalOf(row);
    const seen = this.#seen.get(name);
    for (const counter of counters) total[counter] += row[counter] - (seen?.[counter] ?? 0);
    const { minute, requests, bytesIn, bytesOut, credits, messages } = row;
    this.#seen.set(name, { minute, requests, bytesIn, bytesOut, credits, messages });
    this.#changed.details.set(name, row);
    this.#changed.totals.set(dimensionsOf(total), { ...total });
  }

  #totalOf(row: UsageRow): Total {
    const zero = zeroTotal(row);
    const name = dimensionsOf(zero);
    const total = this.#totals.get(name) ?? zero;
    this.#totals.set(name, total);
    return total;
  }
}
