import { addAbortSignal, Readable } from 'node:stream';
import {
  type ClickHouseClient,
  ClickHouseLogLevel,
  type ClickHouseSettings,
  createClient,
  parseError,
} from '@clickhouse/client';
import { OperatorError } from '../../base/operator-error.ts';
import { readLimited } from '../../base/read-limited.ts';
import { ApiError } from '../api/api-error.ts';
import { isStoreUnavailable } from '../database/store-unavailable.ts';

/** Requests wait this long for the whole response. */
const REQUEST_TIMEOUT_MS = 10_000;
const QUERY_MAX_BYTES = 268_435_456;
/** Of responses without rows, and of errors. */
const RESPONSE_MAX_BYTES = 1_048_576;
const ERROR_MAX_CHARS = 16_384;
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

const PERMANENT = new Set([6, 25, 26, 27, 53, 69, 70, 72, 117, 130, 131, 349, 395, 469]);

/** Code 117 of old servers for a column that the table lacks: all rows fail until it is added. */
const UNKNOWN_FIELD = /^(?:Code: 117[^:]*::Exception: )?Unknown field/;

/**
 * True if the server rejected a row because of its content. Source: ClickHouse, ErrorCodes.cpp: parse and range errors,
 * throwIf, constraints.
 */
export function isRejectedRow(error: unknown): boolean {
  if (UNKNOWN_FIELD.test((error as Error).message)) return false;
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

/** Such as a sign-in page of a proxy. */
const notClickHouse = (): Error =>
  new OperatorError('the response is not that of ClickHouse: check store.clickhouse_url and the proxies');

const tooLong = (): Error => new OperatorError('the response of ClickHouse is too long: check the proxies');

const resultTooLarge = (): Error =>
  new ApiError(422, 'RESULT_TOO_LARGE', 'Query result too large. Choose a shorter time range.');

export type Rows<Row> = Readonly<{ rows: Row[]; rowsRead: number }>;

type Request = Readonly<{
  settings?: ClickHouseSettings;
  /** Body of an insert. */
  values?: string;
  isQuery?: boolean;
}>;

/** Sends statements to a ClickHouse server over HTTP. A response that is not that of ClickHouse is an error. */
export class ClickHouse {
  readonly #client: ClickHouseClient;
  readonly #timeoutMs: number;
  readonly #queryMaxBytes: number;

  /** @param url - with user, password and database. */
  constructor(url: string, timeoutMs = REQUEST_TIMEOUT_MS, queryMaxBytes = QUERY_MAX_BYTES) {
    this.#timeoutMs = timeoutMs;
    this.#queryMaxBytes = queryMaxBytes;
    this.#client = createClient({
      url,
      application: 'solway',
      request_timeout: timeoutMs,
      max_open_connections: CONNECTIONS_MAX,
      // Errors are thrown, and logged by the callers.
      log: { level: ClickHouseLogLevel.OFF },
    });
  }

  async query<Row>(query: string): Promise<Rows<Row>> {
    const text = await this.#send(`${query} format JSON`, { settings: querySettings, isQuery: true });
    const { data, statistics } = JSON.parse(text) as {
      data: Row[];
      statistics?: Readonly<{ rows_read: number }>;
    };
    return { rows: data, rowsRead: statistics?.rows_read ?? 0 };
  }

  async run(query: string): Promise<void> {
    await this.#send(query);
  }

  async ping(): Promise<void> {
    await this.query('select 1');
  }

  async insert(table: string, rows: readonly object[]): Promise<void> {
    const values = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
    await this.#send(`insert into ${table} format JSONEachRow`, { values });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  async #send(query: string, request: Request = {}): Promise<string> {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      return await this.#exchange(query, request, signal);
    } catch (error) {
      const thrownError = signal.aborted ? new Error('Timeout error.') : error;
      thrown.add(Object(thrownError));
      throw thrownError;
    }
  }

  /** Reads the response itself: the client limits neither its length nor the time for all of it. */
  async #exchange(query: string, request: Request, signal: AbortSignal): Promise<string> {
    const { settings = {}, values, isQuery = false } = request;
    const { stream, http_status_code, response_headers } = await this.#client.exec({
      ...{ query, clickhouse_settings: settings, abort_signal: signal, ignore_error_response: true },
      ...(values === undefined ? {} : { values: Readable.from([values]) }),
    });
    const isFailed =
      http_status_code !== 200 || response_headers['x-clickhouse-exception-code'] !== undefined;
    const body = addAbortSignal(signal, stream);
    const hasRows = isQuery && !isFailed;
    const bytes = await readLimited(body, hasRows ? this.#queryMaxBytes : RESPONSE_MAX_BYTES);
    if (bytes === null) throw hasRows ? resultTooLarge() : tooLong();
    const text = bytes.toString();
    if (isFailed) throw parseError(text.slice(0, ERROR_MAX_CHARS));
    // A response of a proxy would otherwise count as success.
    if (!Object.keys(response_headers).some((name) => name.startsWith('x-clickhouse-')))
      throw notClickHouse();
    return text;
  }
}
