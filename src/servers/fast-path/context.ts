import type { Logger } from '../../base/log.ts';
import { type HttpOptions, httpOptions } from '../http/options.ts';
import type { FallbackListener, ListenerLoad } from '../http/routes.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import { CredentialCache, LastValueCache } from './caller-reader.ts';
import { FastHead } from './decode.ts';
import { ResponseWriter } from './encode.ts';

const fastPathOptions = {
  headMaxBytes: 8 * 1024,
  bodyMaxBytes: 64 * 1024,
  /** Whether all connections read into one shared buffer, if the runtime supports this. */
  sharesReads: true,
};

export type FastHttpOptions = Pick<
  HttpOptions,
  | 'headersMaxBytes'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'idleTimeoutMs'
  | 'requestsInFlightMax'
> &
  Readonly<typeof fastPathOptions>;

export const fastHttpOptions: FastHttpOptions = { ...httpOptions, ...fastPathOptions };

export interface OpenConnection {
  /** When `onTimeout` is due, in milliseconds on the `performance.now()` clock. */
  readonly dueAt: number;
  readonly isIdle: boolean;
  onTimeout(): void;
  destroy(): void;
}

type OnConnectionEnd = (connection: OpenConnection) => void;

/** Shared by all connections of a server. */
export class FastHttpContext {
  readonly options: FastHttpOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly onConnectionEnd: OnConnectionEnd;
  /** Valid until the next head is read. */
  readonly head: FastHead;
  readonly writer: ResponseWriter;
  readonly hosts = new LastValueCache();
  validHost: string | null = null;
  readonly credentials = new CredentialCache();
  readonly contentTypes = new LastValueCache();
  readonly acceptEncodings = new LastValueCache();
  readonly pieces: Buffer[] = [];
  /** Recent value of `performance.now()`, updated by each sweep and each new connection. */
  now = 0;
  /** Set before the first connection is accepted. */
  fallback!: FallbackListener;
  load!: ListenerLoad;

  constructor(calls: RpcCalls, log: Logger, options: FastHttpOptions, onConnectionEnd: OnConnectionEnd) {
    const { headMaxBytes, headersMaxBytes, keepAliveTimeoutMs } = options;
    this.calls = calls;
    this.log = log;
    this.options = options;
    this.onConnectionEnd = onConnectionEnd;
    this.head = new FastHead(calls.options.path, Math.min(headMaxBytes, headersMaxBytes));
    this.writer = new ResponseWriter(keepAliveTimeoutMs);
  }
}
