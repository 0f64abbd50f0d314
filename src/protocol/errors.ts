/** Party responsible for a failure. Dashboards and alerts group failures by owner. */
export type Owner = 'client' | 'gateway' | 'capacity' | 'upstream';

export type FailureRow = Readonly<{
  owner: Owner;
  /** HTTP status. JSON-RPC's own client errors use 200, as in Agave. */
  http: number;
  rpc: number;
  grpc: number;
  close: number;
  /** `{name}` is replaced by the fact called `name`. Never contains the message of a caught error. */
  text: string;
  grpcText?: string;
  restText?: string;
  /** Seconds. */
  retryAfter?: number;
  /** In usage statistics, this failure counts as `limited`, regardless of its owner. */
  countsAsLimited?: true;
  rest?: true;
  /** The JSON-RPC response omits `jsonrpc`, as Agave's does. */
  versionless?: true;
}>;

const row = (
  owner: Owner,
  http: number,
  rpc: number,
  grpc: number,
  close: number,
  text: string,
  extra: Partial<Omit<FailureRow, 'owner' | 'http' | 'rpc' | 'grpc' | 'close' | 'text'>> = {},
): FailureRow => ({ owner, http, rpc, grpc, close, text, ...extra });

/**
 * Each server reads only its protocol's columns. JSON-RPC codes: ours are -32040 to -32099; Agave's -32001 to -32021
 * pass through. Sources: spec/interface.md "Errors"; Agave's `custom_error.rs`.
 */
// biome-ignore format: a table is read by its columns
export const failures = {
  // owner, HTTP status, JSON-RPC code, gRPC status, WebSocket close code, text
  PARSE_ERROR: row('client', 200, -32700, 3, 1007, 'Parse error'),
  INVALID_REQUEST: row('client', 200, -32600, 3, 1007, 'Invalid request'),
  UNSUPPORTED_VERSION: row('client', 200, -32600, 3, 1007,
    'Unsupported JSON-RPC protocol version', { versionless: true }),
  PARAMS_NOT_ARRAY: row('client', 200, -32602, 3, 1007, '`params` should be an array'),
  INTERNAL: row('gateway', 500, -32603, 13, 1011, 'Internal error'),

  MISSING_KEY: row('client', 401, -32040, 16, 1008,
    'No API key: send it as "Authorization: Bearer <API_KEY>" or as the query parameter "api-key"', {
      grpcText: 'No API key: send it as the metadata "x-token"',
      restText:
        'No API key: send it in the header "x-api-key", as "Authorization: Bearer <API_KEY>" or as the query parameter "api-key"',
    }),
  INVALID_KEY: row('client', 403, -32041, 16, 1008, 'The API key is invalid, inactive or expired'),
  UNAUTHORIZED_PRODUCT: row('client', 403, -32042, 7, 1008, 'The API key belongs to a different product'),
  RATE_LIMITED: row('client', 429, -32043, 8, 1008,
    'Rate limit exceeded: retry after the delay given in Retry-After', {
      grpcText: 'Rate limit exceeded: retry after the seconds given in retry-after',
      countsAsLimited: true,
    }),
  QUOTA_EXCEEDED: row('client', 429, -32087, 8, 1008,
    'Monthly credit limit reached: credits reset at the start of next month (UTC), or upgrade the plan', {
      countsAsLimited: true,
    }),
  ADDRESS_FORBIDDEN: row('client', 403, -32088, 7, 1008, 'This API key may not be used from this address'),
  ORIGIN_FORBIDDEN: row('client', 403, -32089, 7, 1008,
    'This API key is restricted to certain web origins, and the Origin header matches none of them'),
  METHOD_FORBIDDEN: row('client', 403, -32090, 7, 1008, 'This API key may not be used for {method}'),
  NETWORK_FORBIDDEN: row('client', 403, -32091, 7, 1008,
    'This API key may not be used for the network {network}'),
  NETWORK_NOT_SERVED: row('client', 400, -32096, 3, 1008,
    '"network": this service does not serve "{network}". Networks served here: {served}'),
  TOO_MANY_WRONG_KEYS: row('client', 429, -32092, 8, 1008,
    'Too many invalid API keys from this address: retry after the delay given in Retry-After', {
      grpcText: 'Too many invalid API keys from this address: retry after the seconds given in retry-after',
      countsAsLimited: true,
    }),

  BODY_TOO_LARGE: row('client', 413, -32044, 8, 1009, 'The request body is larger than this service accepts'),
  BATCH_TOO_LARGE: row('client', 200, -32045, 3, 1008,
    'The batch has more calls than this service accepts: send fewer per batch'),
  BATCH_ANSWER_TOO_LARGE: row('client', 200, -32095, 8, 1009,
    'Batch response too large: send fewer calls per batch, or this call alone'),
  UNSUPPORTED_MEDIA_TYPE: row('client', 415, -32046, 3, 1003,
    'Send the header "Content-Type: application/json"'),
  ENCODED_BODY: row('client', 415, -32094, 3, 1003,
    'Send the body without Content-Encoding: compressed bodies are not accepted'),
  NOT_FOUND: row('client', 404, -32047, 12, 1008, 'No such path'),
  METHOD_NOT_ALLOWED: row('client', 405, -32048, 12, 1008, 'HTTP method not allowed for this path'),
  REQUEST_TIMEOUT: row('client', 408, -32049, 4, 1008,
    'Request timeout: the request did not arrive completely in time'),
  CLIENT_GONE: row('client', 499, -32056, 1, 1001, 'The client disconnected before the response was ready'),
  MALFORMED_HTTP: row('client', 400, -32057, 3, 1002, 'The HTTP request is malformed'),
  HEADERS_TOO_LARGE: row('client', 431, -32058, 8, 1009,
    'The HTTP headers are larger than this service accepts'),
  UPSTREAM_UNAVAILABLE: row('upstream', 503, -32050, 14, 1013,
    'The upstream service is temporarily unavailable', { retryAfter: 1 }),
  UPSTREAM_TIMEOUT: row('upstream', 504, -32051, 4, 1013,
    'The upstream service did not respond in time', { retryAfter: 1 }),
  KEYS_UNAVAILABLE: row('gateway', 503, -32052, 14, 1013,
    'This API key cannot be checked right now: try again shortly', { retryAfter: 1 }),
  NODES_DISAGREE: row('upstream', 503, -32097, 14, 1013,
    'The nodes of this network gave different responses: try again shortly', { retryAfter: 1 }),
  OVERLOADED: row('capacity', 503, -32054, 8, 1013,
    'The service is overloaded: try again shortly', { retryAfter: 1 }),
  ANSWER_TOO_LARGE: row('capacity', 502, -32055, 8, 1009,
    'The response exceeds the size limit of this service: narrow the request'),
  HTTP_STREAM_LIMIT: row('client', 429, -32098, 8, 1008,
    'This customer already has {streamsMax} streams over HTTP: close one, or use gRPC', {
      countsAsLimited: true,
    }),
  CONNECTION_LIMIT: row('client', 429, -32053, 8, 1008,
    'Connection limit of the plan reached: close a connection or upgrade the plan', {
      grpcText: 'Stream limit of the plan reached: close a stream or upgrade the plan',
      countsAsLimited: true,
    }),
  SUBSCRIPTION_LIMIT: row('client', 429, -32059, 8, 1008,
    'Subscription limit of this connection or key reached: unsubscribe first', { countsAsLimited: true }),
  CLOSED_BY_OWNER: row('client', 403, -32093, 7, 1008, 'The owner of this key closed this connection'),
  FILTER_LIMIT: row('client', 400, -32067, 3, 1008,
    'The request has more or larger filters than the plan of this key allows', {
      grpcText: 'Max amount of {of} reached, only {max} allowed',
      countsAsLimited: true,
    }),
  MESSAGE_TOO_LARGE: row('client', 413, -32060, 8, 1009, 'The message is larger than this key may send'),
  LAGGING: row('client', 503, -32061, 13, 1013,
    'The client reads messages too slowly: read faster or subscribe to less', {
      grpcText: 'lagged to send an update: {messages} messages, {bytes} bytes behind',
    }),
  IDLE: row('client', 408, -32062, 4, 1000,
    'Idle timeout: subscribe or send a ping to keep the connection open'),
  UNRESPONSIVE: row('client', 408, -32063, 4, 1001, 'The client did not answer a ping'),
  UPGRADE_REQUIRED: row('client', 426, -32064, 3, 1002,
    'This path is a WebSocket endpoint: send an upgrade request'),
  MALFORMED_FRAME: row('client', 400, -32066, 3, 1002, 'Invalid WebSocket frame'),
  NO_SHRED_STAGE: row('gateway', 501, -32068, 12, 1011,
    'This service has no shred stage: no shred source is configured'),

  // REST only. Source: rest-api.md §1 and the endpoints' sections.
  INVALID_FIELDS: row('client', 400, -32070, 3, 1008, 'Validation failed!', { rest: true }),
  NFT_NOT_FOUND: row('client', 404, -32071, 5, 1008, 'NFT {address} not found on {network}', { rest: true }),
  TRANSACTION_NOT_FOUND: row('client', 404, -32072, 5, 1008,
    'Transaction {signature} not found on {network}', { rest: true }),
  DOMAIN_NOT_FOUND: row('client', 404, -32073, 5, 1008, 'No domain found for {address}', { rest: true }),
  NOT_A_MINT: row('client', 400, -32074, 3, 1008,
    '{address} is not a token mint on {network}', { rest: true }),
  TRANSACTION_REFUSED: row('client', 400, -32075, 9, 1008,
    'The node rejected the transaction', { rest: true }),
  TRANSACTION_FAILED: row('client', 400, -32084, 9, 1008,
    'The transaction failed on chain: {reason}', { rest: true }),
  TRANSACTION_EXPIRED: row('client', 400, -32085, 9, 1008,
    'The blockhash expired before the transaction landed: sign it again with a newer one', { rest: true }),
  TRANSACTION_UNCONFIRMED: row('upstream', 504, -32086, 4, 1013,
    'The transaction was sent, but was not confirmed at the commitment in time: check its status', {
      rest: true,
    }),
  WRONG_PASSWORD: row('client', 400, -32076, 16, 1008, 'Incorrect password', { rest: true }),
  TOO_MANY_TRIES: row('client', 429, -32077, 8, 1008,
    'Too many attempts: retry after the delay given in Retry-After', { countsAsLimited: true, rest: true }),
  MALFORMED_MULTIPART: row('client', 400, -32078, 3, 1007,
    'The body is not a complete multipart/form-data with one part "file"', { rest: true }),
  FILE_TOO_LARGE: row('client', 413, -32079, 8, 1009,
    'The file is larger than this service stores', { rest: true }),
  STORAGE_FULL: row('capacity', 507, -32080, 8, 1013, 'The storage of this service is full', { rest: true }),
  STORAGE_UNAVAILABLE: row('upstream', 503, -32081, 14, 1013,
    'The storage behind this service is temporarily unavailable', { retryAfter: 1, rest: true }),
  FILE_NOT_FOUND: row('client', 404, -32082, 5, 1008,
    'No file with that content identifier is stored here', { rest: true }),
  WALLETS_FULL: row('capacity', 507, -32083, 8, 1013,
    'Limit of semi-custodial wallets of this key reached', { rest: true }),

  DRAINING: row('gateway', 503, -32065, 14, 1012,
    'This server is restarting: reconnect', {
      grpcText: 'server is shutting down try again later',
      retryAfter: 1,
    }),
} satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof failures;

/** Sent to clients. Never contains the message of a caught error. */
export type FailureFacts = Readonly<Record<string, string | number | boolean | null>>;

/** One attempt to call a node. Times are on the `performance.now()` clock. */
export type CallAttempt = Readonly<{
  node: string;
  startedAt: number;
  endedAt: number;
  /** `ok` or a short description. Never contains text sent by a node. */
  outcome: string;
}>;

export type FailureOptions = Readonly<{
  facts?: FailureFacts;
  retryAfter?: number | null;
  cause?: unknown;
  attempts?: readonly CallAttempt[];
}>;

const NO_ATTEMPTS: readonly CallAttempt[] = [];

/** `facts` are sent to the client; `cause` and `attempts` are not. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly facts: FailureFacts | undefined;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** Attempts at nodes that led to this failure, for the request log. */
  attempts: readonly CallAttempt[];

  /** @param options.retryAfter - overrides the row's value; null omits it, for failures where a retry could do harm. */
  constructor(code: FailureCode, options: FailureOptions = {}) {
    super(failures[code].text, { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.facts = options.facts;
    this.attempts = options.attempts ?? NO_ATTEMPTS;
    this.retryAfter = options.retryAfter === null ? undefined : (options.retryAfter ?? this.row.retryAfter);
  }

  get row(): FailureRow {
    return failures[this.code];
  }

  get grpcText(): string {
    return this.#withFacts(this.row.grpcText ?? this.row.text);
  }

  get restText(): string {
    return this.#withFacts(this.row.restText ?? this.row.text);
  }

  get text(): string {
    return this.#withFacts(this.row.text);
  }

  #withFacts(text: string): string {
    return text.replace(/\{(\w+)\}/g, (_, name: string) => String(this.facts?.[name] ?? ''));
  }
}

/** Maximum length of network names in errors, because a name may come from the client. */
const NAME_MAX_CHARS = 64;

export const networkNotServed = (named: string, served: readonly string[]): Failure =>
  new Failure('NETWORK_NOT_SERVED', {
    facts: { network: named.slice(0, NAME_MAX_CHARS), served: served.join(', ') || 'none' },
  });
