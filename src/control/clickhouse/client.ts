import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
} from '@clickhouse/client';
import { OperatorError } from '../../base/operator-error.ts';
import { isStoreUnavailable } from '../database/store-unavailable.ts';

/** Requests wait this long for a response. */
const REQUEST_TIMEOUT_MS = 10_000;
const CONNECTIONS_MAX = 8;
const querySettings = {
  /** JSON numbers suffice, because all counts are below 2^53. */
  output_format_json_quote_64bit_integers: 0,
  /** Seconds. The client has given up by then. */
  max_execution_time: REQUEST_TIMEOUT_MS / 1_000,
} as const;

/** Host and database, without credentials. */
export const describeClickHouse = (url: string): string => {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`;
};

/** String literal. Old servers have no query parameters. Source: ClickHouse SQL reference, "Syntax", string literals. */
export const textLiteral = (text: string): string =>
  `'${text.replace(/[\\']/g, '\\$&').replaceAll('\0', '\\0')}'`;

export const listOf = (literals: readonly string[]): string => `(${literals.join(', ')})`;

const PERMANENT = new Set([6, 25, 26, 27, 53, 69, 70, 72, 130, 131, 349]);

/** True if the server rejected a row because of its content. Source: ClickHouse, ErrorCodes.cpp: parse and range errors. */
export function isRejectedRow(error: unknown): boolean {
  const [, code] = /\bCode: (\d+)/.exec(String(error)) ?? [];
  return PERMANENT.has(Number((error as { code?: unknown }).code ?? code));
}

const TIMEOUT_EXCEEDED = '159';

/** True if the server does not respond in time. Source: @clickhouse/client, socket_pool.js: errors without a code. */
export const isUnreachable = (error: unknown): boolean =>
  isStoreUnavailable(error) ||
  (error as { code?: unknown }).code === TIMEOUT_EXCEEDED ||
  /^(?:Timeout error|socket hang up)/.test((error as Error).message);

const thrown = new WeakSet<object>();

/** True for errors of requests to ClickHouse, whose codes those of PostgreSQL may have too. */
export const isClickHouseError = (error: unknown): boolean => thrown.has(Object(error));

async function marked<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    thrown.add(Object(error));
    throw error;
  }
}

/** Such as a sign-in page of a proxy. */
const notClickHouse = (): Error =>
  new OperatorError('the response is not that of ClickHouse: check store.clickhouse_url and the proxies');

export type Rows<Row> = Readonly<{ rows: Row[]; rowsRead: number }>;

/** Sends statements to a ClickHouse server over HTTP. */
export class ClickHouse {
  readonly #client: ClickHouseClient;

  /** @param url - with user, password and database. */
  constructor(url: string, timeoutMs = REQUEST_TIMEOUT_MS) {
    this.#client = createClient({
      url,
      application: 'solway',
      request_timeout: timeoutMs,
      max_open_connections: CONNECTIONS_MAX,
      // Errors are thrown, and logged by the callers.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  /** @param settings - must be known to the server. */
  async query<Row>(query: string, settings: ClickHouseSettings = {}): Promise<Rows<Row>> {
    const options = {
      ...{ query, format: 'JSON' as const },
      clickhouse_settings: { ...querySettings, ...settings },
    };
    const read = async () => (await this.#client.query(options)).json<Row>();
    const { data, statistics } = await marked(read());
    return { rows: data, rowsRead: statistics?.rows_read ?? 0 };
  }

  async run(query: string): Promise<void> {
    await marked(this.#client.command({ query }));
  }

  /** @throws Error also if the response is not that of ClickHouse. */
  async ping(): Promise<void> {
    const { rows } = await this.query<{ one: unknown }>('select 1 as one');
    if (rows[0]?.one !== 1) throw notClickHouse();
  }

  /** @throws Error also if the response is not that of ClickHouse, as rows would then be lost. */
  async insert(table: string, values: readonly object[]): Promise<void> {
    const format = 'JSONEachRow' as const;
    const { response_headers: headers } = await marked(
      this.#client.insert({ table, values: values as object[], format }),
    );
    if (!Object.keys(headers).some((name) => name.startsWith('x-clickhouse-'))) throw notClickHouse();
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}
