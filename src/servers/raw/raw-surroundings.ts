import type { Logger } from '../../base/log.ts';
import type { DoorBehind } from '../front-door.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import type { AnswerWriter } from './answer-writer.ts';
import type { FastHead } from './fast-head.ts';
import type { FitHosts } from './fit-hosts.ts';
import type { LastText } from './last-text.ts';
import type { RawDoorOptions } from './raw-options.ts';
import type { ShownCredentials } from './shown-credentials.ts';
import type { TickClock } from './tick-clock.ts';

/** A connection, as its door looks after it. */
export interface OpenConnection {
  /** When it is overdue, as a tick of the clock. */
  readonly dueAt: number;
  /** Whether it was in use and has no request now. */
  readonly isIdle: boolean;
  /** What was waited for did not come. */
  overdue(): void;
  cut(): void;
}

/** What all connections of a raw door share. */
export interface RawSurroundings {
  readonly options: RawDoorOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly behind: DoorBehind;
  readonly clock: TickClock;
  /** Reads heads; what it found holds until the next is read. */
  readonly head: FastHead;
  readonly hosts: FitHosts;
  readonly credentials: ShownCredentials;
  /** Content types. */
  readonly types: LastText;
  readonly writer: AnswerWriter;
  /** An empty list for the pieces of an answer, until the next is asked for. */
  pieces(): Buffer[];
  /** A request has begun, and ended. */
  begun(): void;
  ended(): void;
  /** A connection is closed, or was handed on. */
  left(connection: OpenConnection): void;
}
