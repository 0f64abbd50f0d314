import { accessFailures } from './access-failures.ts';
import type { FailureRow } from './failure-row.ts';
import { restFailures } from './rest/rest-failures.ts';

/**
 * Table of failures: owner, and representation on each wire. Servers only read their column. Sources:
 * spec/interface.md "Errors" for customer-facing codes. Agave's `custom_error.rs` (rpc-client-api) owns
 * -32001 … -32021, which pass through; ours are -32040 … -32099.
 */
export const failures = {
  PARSE_ERROR: { owner: 'client', http: 200, rpc: -32700, grpc: 3, close: 1007, text: 'Parse error' },
  INVALID_REQUEST: { owner: 'client', http: 200, rpc: -32600, grpc: 3, close: 1007, text: 'Invalid request' },
  UNSUPPORTED_VERSION: {
    owner: 'client',
    http: 200,
    rpc: -32600,
    grpc: 3,
    close: 1007,
    text: 'Unsupported JSON-RPC protocol version',
    versionless: true,
  },
  PARAMS_NOT_ARRAY: {
    owner: 'client',
    http: 200,
    rpc: -32602,
    grpc: 3,
    close: 1007,
    text: '`params` should be an array',
  },
  INTERNAL: { owner: 'gateway', http: 500, rpc: -32603, grpc: 13, close: 1011, text: 'Internal error' },
  ...accessFailures,
  BODY_TOO_LARGE: {
    owner: 'client',
    http: 413,
    rpc: -32044,
    grpc: 8,
    close: 1009,
    text: 'The request body is larger than this service accepts',
  },
  BATCH_TOO_LARGE: {
    owner: 'client',
    http: 200,
    rpc: -32045,
    grpc: 3,
    close: 1008,
    text: 'The batch has more calls than this service accepts: send fewer per batch',
  },
  BATCH_ANSWER_TOO_LARGE: {
    owner: 'client',
    http: 200,
    rpc: -32095,
    grpc: 8,
    close: 1009,
    text: 'Batch response too large: send fewer calls per batch, or this call alone',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    owner: 'client',
    http: 415,
    rpc: -32046,
    grpc: 3,
    close: 1003,
    text: 'Send the header "Content-Type: application/json"',
  },
  ENCODED_BODY: {
    owner: 'client',
    http: 415,
    rpc: -32094,
    grpc: 3,
    close: 1003,
    text: 'Send the body without Content-Encoding: compressed bodies are not accepted',
  },
  NOT_FOUND: { owner: 'client', http: 404, rpc: -32047, grpc: 12, close: 1008, text: 'No such path' },
  METHOD_NOT_ALLOWED: {
    owner: 'client',
    http: 405,
    rpc: -32048,
    grpc: 12,
    close: 1008,
    text: 'HTTP method not allowed for this path',
  },
  REQUEST_TIMEOUT: {
    owner: 'client',
    http: 408,
    rpc: -32049,
    grpc: 4,
    close: 1008,
    text: 'Request timeout: the request did not arrive completely in time',
  },
  CLIENT_GONE: {
    owner: 'client',
    http: 499,
    rpc: -32056,
    grpc: 1,
    close: 1001,
    text: 'The client disconnected before the response was ready',
  },
  MALFORMED_HTTP: {
    owner: 'client',
    http: 400,
    rpc: -32057,
    grpc: 3,
    close: 1002,
    text: 'The HTTP request is malformed',
  },
  HEADERS_TOO_LARGE: {
    owner: 'client',
    http: 431,
    rpc: -32058,
    grpc: 8,
    close: 1009,
    text: 'The HTTP headers are larger than this service accepts',
  },
  UPSTREAM_UNAVAILABLE: {
    owner: 'upstream',
    http: 503,
    rpc: -32050,
    grpc: 14,
    close: 1013,
    text: 'The upstream service is temporarily unavailable',
    retryAfter: 1,
  },
  UPSTREAM_TIMEOUT: {
    owner: 'upstream',
    http: 504,
    rpc: -32051,
    grpc: 4,
    close: 1013,
    text: 'The upstream service did not respond in time',
    retryAfter: 1,
  },
  KEYS_UNAVAILABLE: {
    owner: 'gateway',
    http: 503,
    rpc: -32052,
    grpc: 14,
    close: 1013,
    text: 'This API key cannot be checked right now: try again shortly',
    retryAfter: 1,
  },
  OVERLOADED: {
    owner: 'capacity',
    http: 503,
    rpc: -32054,
    grpc: 8,
    close: 1013,
    text: 'The service is overloaded: try again shortly',
    retryAfter: 1,
  },
  ANSWER_TOO_LARGE: {
    owner: 'capacity',
    http: 502,
    rpc: -32055,
    grpc: 8,
    close: 1009,
    text: 'The response exceeds the size limit of this service: narrow the request',
  },
  CONNECTION_LIMIT: {
    owner: 'client',
    http: 429,
    rpc: -32053,
    grpc: 8,
    close: 1008,
    text: 'Connection limit of the plan reached: close a connection or upgrade the plan',
    grpcText: 'Stream limit of the plan reached: close a stream or upgrade the plan',
    limits: true,
  },
  SUBSCRIPTION_LIMIT: {
    owner: 'client',
    http: 429,
    rpc: -32059,
    grpc: 8,
    close: 1008,
    text: 'Subscription limit of this connection or key reached: unsubscribe first',
    limits: true,
  },
  CLOSED_BY_OWNER: {
    owner: 'client',
    http: 403,
    rpc: -32093,
    grpc: 7,
    close: 1008,
    text: 'The owner of this key closed this connection',
  },
  FILTER_LIMIT: {
    owner: 'client',
    http: 400,
    rpc: -32067,
    grpc: 3,
    close: 1008,
    text: 'The request has more or larger filters than the plan of this key allows',
    grpcText: 'Max amount of {of} reached, only {max} allowed',
    limits: true,
  },
  MESSAGE_TOO_LARGE: {
    owner: 'client',
    http: 413,
    rpc: -32060,
    grpc: 8,
    close: 1009,
    text: 'The message is larger than this key may send',
  },
  LAGGING: {
    owner: 'client',
    http: 503,
    rpc: -32061,
    grpc: 13,
    close: 1013,
    text: 'The client reads messages too slowly: read faster or subscribe to less',
    grpcText: 'lagged to send an update: {messages} messages, {bytes} bytes behind',
  },
  IDLE: {
    owner: 'client',
    http: 408,
    rpc: -32062,
    grpc: 4,
    close: 1000,
    text: 'Idle timeout: subscribe or send a ping to keep the connection open',
  },
  UNRESPONSIVE: {
    owner: 'client',
    http: 408,
    rpc: -32063,
    grpc: 4,
    close: 1001,
    text: 'The client did not answer a ping',
  },
  UPGRADE_REQUIRED: {
    owner: 'client',
    http: 426,
    rpc: -32064,
    grpc: 3,
    close: 1002,
    text: 'This path is a WebSocket endpoint: send an upgrade request',
  },
  MALFORMED_FRAME: {
    owner: 'client',
    http: 400,
    rpc: -32066,
    grpc: 3,
    close: 1002,
    text: 'Invalid WebSocket frame',
  },
  NO_SHRED_STAGE: {
    owner: 'gateway',
    http: 501,
    rpc: -32068,
    grpc: 12,
    close: 1011,
    text: 'This service has no shred stage: no shred source is configured',
  },
  ...restFailures,
  DRAINING: {
    owner: 'gateway',
    http: 503,
    rpc: -32065,
    grpc: 14,
    close: 1012,
    text: 'This server is restarting: reconnect',
    grpcText: 'server is shutting down try again later',
    retryAfter: 1,
  },
} as const satisfies Record<string, FailureRow>;

export type FailureCode = keyof typeof failures;

/** Public facts of a failure, such as the exceeded limit. Never a caught message. */
export type FailureFacts = Readonly<Record<string, string | number | boolean | null>>;

/** Thrown row of the table. `facts` reach the client; `cause` does not. */
export class Failure extends Error {
  readonly code: FailureCode;
  readonly facts: FailureFacts | undefined;
  /** Seconds; sent as Retry-After. */
  readonly retryAfter: number | undefined;

  /** @param options.retryAfter - overrides the row's; null: none, where a retry could do harm. */
  constructor(
    code: FailureCode,
    options: { facts?: FailureFacts; retryAfter?: number | null; cause?: unknown } = {},
  ) {
    super(failures[code].text, { cause: options.cause });
    this.name = 'Failure';
    this.code = code;
    this.facts = options.facts;
    this.retryAfter = options.retryAfter === null ? undefined : (options.retryAfter ?? this.row.retryAfter);
  }

  get row(): FailureRow {
    return failures[this.code];
  }

  /** Text for gRPC clients. */
  get grpcText(): string {
    return this.#withFacts(this.row.grpcText ?? this.row.text);
  }

  /** Text for REST clients. */
  get restText(): string {
    return this.#withFacts(this.row.restText ?? this.row.text);
  }

  /** Text for all other clients. */
  get text(): string {
    return this.#withFacts(this.row.text);
  }

  #withFacts(text: string): string {
    return text.replace(/\{(\w+)\}/g, (_, name: string) => String(this.facts?.[name] ?? ''));
  }
}

/** Limit for a name sent back: it may come from the client. */
const NAME_MAX_CHARS = 64;

/** Failure for an unknown network, or one without nodes. */
export const networkNotServed = (named: string, served: readonly string[]): Failure =>
  new Failure('NETWORK_NOT_SERVED', {
    facts: { network: named.slice(0, NAME_MAX_CHARS), served: served.join(', ') || 'none' },
  });
