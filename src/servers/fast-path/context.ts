import type { Logger } from '../../base/log.ts';
import { type HttpOptions, httpOptions } from '../http/options.ts';
import type { FallbackListener, ListenerLoad } from '../http/routes.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import type { CredentialCache, LastValueCache } from './caller-reader.ts';
import type { FastHead } from './decode.ts';
import type { ResponseWriter } from './encode.ts';

const fastPathOptions = {
  headMaxBytes: 8 * 1024,
  bodyMaxBytes: 64 * 1024,
  /** All connections read into one shared buffer, if the runtime supports it. */
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
  /** Milliseconds of `performance.now()`. */
  readonly dueAt: number;
  readonly isIdle: boolean;
  onTimeout(): void;
  destroy(): void;
}

/** Shared by all connections of a server. */
export interface FastHttpContext {
  readonly options: FastHttpOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly fallback: FallbackListener;
  readonly load: ListenerLoad;
  /** Milliseconds of `performance.now()`, updated with each sweep. */
  readonly now: number;
  /** Its result is valid until it reads the next head. */
  readonly head: FastHead;
  readonly hosts: LastValueCache;
  validHost: string | null;
  readonly credentials: CredentialCache;
  readonly contentTypes: LastValueCache;
  readonly writer: ResponseWriter;
  readonly pieces: Buffer[];
  onConnectionEnd(connection: OpenConnection): void;
}
