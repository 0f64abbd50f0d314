import type { Insertable, Selectable } from 'kysely';
import type { UsageStatus } from '../../gateway/metering/usage-status.ts';
import type { Product } from '../../protocol/product.ts';
import type { RequestLogTable } from '../database/tables/requests.ts';

export type NewLogRow = Insertable<RequestLogTable>;
export type LogRow = Selectable<RequestLogTable>;
/** An entry in a list. The other columns are long, and only shown for a single entry. */
export type ListedRow = Omit<LogRow, 'steps' | 'params' | 'result'>;

/** `from` and `to` are Unix milliseconds; `to` is exclusive. */
export type LogFilter = Readonly<{
  from: number;
  to: number;
  key?: string | undefined;
  keys?: readonly string[] | undefined;
  method?: string | undefined;
  product?: Product | undefined;
  status?: UsageStatus | undefined;
  code?: string | undefined;
  rpcCode?: number | undefined;
  minMs?: number | undefined;
  address?: string | undefined;
  search?: string | undefined;
}>;

export type FailureFilter = Pick<LogFilter, 'from' | 'to' | 'keys' | 'method' | 'product'>;

export type LogPage = Readonly<{
  /** Newest first. */
  rows: ListedRow[];
  /** Id before which the search continues, although the page may not be full; null: the search is complete. */
  end: string | null;
}>;

export type LogCounts = Readonly<{
  /** Counts by step, in no order. */
  steps: readonly Readonly<{ step: number; requests: number; failed: number }>[];
  /** Id before which nothing was counted; null: everything was counted. */
  end: string | null;
}>;

/** The newest entry with an error code. */
export type FailureExample = Readonly<{ id: string; message: string | null }>;

/** Stores the request log and searches it. How far a search reads does not depend on the size of the log. */
export interface LogStore {
  /** Maximum rows per write. */
  readonly batchRows: number;
  /** Stores rows. Storing a row twice is harmless. */
  write(rows: readonly NewLogRow[]): Promise<void>;
  /** @param before - last id of the previous page. */
  list(customerId: string, filter: LogFilter, limit: number, before: string | null): Promise<LogPage>;
  find(customerId: string, id: string): Promise<LogRow | undefined>;
  count(customerId: string, filter: LogFilter, stepMs: number): Promise<LogCounts>;
  /** Deletes the entries of customers, and reports failures itself; absent if log-retention.ts deletes them. */
  deleteCustomers?(ids: readonly string[]): Promise<void>;
  /** Finds an entry for each failure code or JSON-RPC error code. Codes without a recent entry may be missing. */
  findExamples(
    customerId: string,
    filter: FailureFilter,
    codes: readonly string[],
  ): Promise<ReadonlyMap<string, FailureExample>>;
  /** Absent if `write` leaves no work: it sends rows in the background. */
  start?(): void;
  /** Must be called after the last write. */
  stop?(): Promise<void>;
  /** Whether the last attempt to send rows failed. */
  readonly isFailing?: boolean;
  /** Rows that `write` accepted and that are not stored yet. */
  readonly waiting?: number;
  /** Rows that `write` accepted and that were dropped, or that the server rejected. */
  readonly losses?: Readonly<{ dropped: number; rejected: number }>;
}
