import type { Logger } from '../../base/log.ts';
import type { FallbackListener } from '../http/fallback-listener.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import type { CoarseClock } from './coarse-clock.ts';
import type { CredentialCache } from './credential-cache.ts';
import type { FastHead } from './fast-head.ts';
import type { FastHttpOptions } from './fast-http-options.ts';
import type { HostCheck } from './host-check.ts';
import type { LastValueCache } from './last-value-cache.ts';
import type { ResponseWriter } from './response-writer.ts';

/** A connection, as its door looks after it. */
export interface OpenConnection {
  /** When it is overdue, as a tick of the clock. */
  readonly dueAt: number;
  /** Whether it was in use and has no request now. */
  readonly isIdle: boolean;
  /** What was waited for did not come. */
  onTimeout(): void;
  destroy(): void;
}

/** What all connections of a raw door share. */
export interface FastHttpContext {
  readonly options: FastHttpOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly fallback: FallbackListener;
  readonly clock: CoarseClock;
  /** Reads heads; what it found holds until the next is read. */
  readonly head: FastHead;
  readonly hostCheck: HostCheck;
  readonly credentials: CredentialCache;
  /** Content types. */
  readonly contentTypes: LastValueCache;
  readonly writer: ResponseWriter;
  /** An empty list for the pieces of an answer, until the next is asked for. */
  pieces(): Buffer[];
  /** A request has begun, and ended. */
  onRequestStart(): void;
  onRequestEnd(): void;
  /** A connection is closed, or was handed on. */
  onConnectionEnd(connection: OpenConnection): void;
}
