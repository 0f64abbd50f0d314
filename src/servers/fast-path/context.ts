import type { Logger } from '../../base/log.ts';
import { type HttpOptions, httpOptions } from '../http/options.ts';
import type { FallbackListener } from '../http/routes.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import type { CredentialCache, HostCheck, LastValueCache } from './caller-reader.ts';
import type { FastHead } from './decode.ts';
import type { ResponseWriter } from './encode.ts';

export type FastHttpOptions = Pick<
  HttpOptions,
  | 'headersMaxBytes'
  | 'headersTimeoutMs'
  | 'requestTimeoutMs'
  | 'keepAliveTimeoutMs'
  | 'idleTimeoutMs'
  | 'requestsInFlightMax'
> &
  Readonly<{
    headMaxBytes: number;
    bodyMaxBytes: number;
    /** All connections read into one shared buffer, if the runtime supports it. */
    sharesReads: boolean;
  }>;

export const fastHttpOptions: FastHttpOptions = {
  ...httpOptions,
  headMaxBytes: 8 * 1024,
  bodyMaxBytes: 64 * 1024,
  sharesReads: true,
};

export class CoarseClock {
  readonly tickMs: number;
  tick = 0;

  constructor(tickMs: number) {
    this.tickMs = tickMs;
  }

  dueIn(ms: number): number {
    return this.tick + Math.ceil(ms / this.tickMs) + 1;
  }
}

export interface OpenConnection {
  readonly dueAt: number;
  readonly isIdle: boolean;
  onTimeout(): void;
  destroy(): void;
}

export interface FastHttpContext {
  readonly options: FastHttpOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly fallback: FallbackListener;
  readonly clock: CoarseClock;
  /** Its result is valid until it reads the next head. */
  readonly head: FastHead;
  readonly hostCheck: HostCheck;
  readonly credentials: CredentialCache;
  readonly contentTypes: LastValueCache;
  readonly writer: ResponseWriter;
  /** An empty list for the pieces of a response, reused by the next call. */
  pieces(): Buffer[];
  onRequestStart(): void;
  onRequestEnd(): void;
  onConnectionEnd(connection: OpenConnection): void;
}
