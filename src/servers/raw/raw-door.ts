import type { Socket } from 'node:net';
import type { Logger } from '../../base/log.ts';
import { withDefaults } from '../../base/with-defaults.ts';
import type { DoorBehind, FrontDoor } from '../front-door.ts';
import { OpenConnections } from '../open-connections.ts';
import type { RpcCalls } from '../rpc/calls.ts';
import { AnswerWriter } from './answer-writer.ts';
import { FastHead } from './fast-head.ts';
import { FitHosts } from './fit-hosts.ts';
import { LastText } from './last-text.ts';
import { RawConnection } from './raw-connection.ts';
import { type RawDoorOptions, rawDoorOptions } from './raw-options.ts';
import { RawSocket } from './raw-socket.ts';
import type { OpenConnection, RawSurroundings } from './raw-surroundings.ts';
import { ShownCredentials } from './shown-credentials.ts';
import { TickClock } from './tick-clock.ts';

/** How often connections are looked for that are overdue, as a share of the shortest timeout, and at least. */
const TIMEOUT_CHECKS = 4;
const LOOK_MAX_MS = 1_000;

/** The open connections. One timer looks after all of them. */
class RawConnections extends OpenConnections<OpenConnection> {
  readonly #clock: TickClock;

  constructor(clock: TickClock) {
    super(clock.tickMs);
    this.#clock = clock;
  }

  protected look(): void {
    const tick = ++this.#clock.tick;
    for (const connection of this.open) if (connection.dueAt <= tick) connection.overdue();
  }

  closeIdle(): void {
    for (const connection of this.open) if (connection.isIdle) connection.cut();
  }

  closeAll(): void {
    for (const connection of this.open) connection.cut();
  }
}

/**
 * The fast way for JSON-RPC over HTTP: ordinary calls are read and answered on the bare connection, since node:http
 * costs more than all the rest of their way. Connections with anything else on them go to node:http, at the first
 * message of that kind and for good; what is refused of bytes that are no request, is refused there.
 */
export class RawDoor implements FrontDoor, RawSurroundings {
  readonly options: RawDoorOptions;
  readonly calls: RpcCalls;
  readonly log: Logger;
  readonly clock: TickClock;
  readonly head: FastHead;
  readonly hosts = new FitHosts();
  readonly credentials = new ShownCredentials();
  readonly types = new LastText();
  readonly writer: AnswerWriter;
  readonly #connections: RawConnections;
  readonly #pieces: Buffer[] = [];
  #behind: DoorBehind | null = null;
  #inFlight = 0;

  constructor(calls: RpcCalls, log: Logger, options: Partial<RawDoorOptions> = {}) {
    this.options = withDefaults(rawDoorOptions, options);
    this.calls = calls;
    this.log = log;
    this.clock = new TickClock(tickOf(this.options));
    const { headMaxBytes, headersMaxBytes } = this.options;
    this.head = new FastHead(calls.options.path, Math.min(headMaxBytes, headersMaxBytes));
    this.writer = new AnswerWriter(this.options.keepAliveTimeoutMs);
    this.#connections = new RawConnections(this.clock);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** Connections that are open here. */
  get connections(): number {
    return this.#connections.size;
  }

  get behind(): DoorBehind {
    if (this.#behind === null) throw new Error('the door stands before nothing');
    return this.#behind;
  }

  standBefore(behind: DoorBehind): void {
    this.#behind = behind;
  }

  take(socket: Socket): void {
    const raw = new RawSocket(socket, this.options.sharesReads);
    const connection = new RawConnection(this, raw);
    this.#connections.add(connection);
    raw.listen(connection);
  }

  pieces(): Buffer[] {
    this.#pieces.length = 0;
    return this.#pieces;
  }

  begun(): void {
    this.#inFlight += 1;
  }

  ended(): void {
    this.#inFlight -= 1;
    this.behind.requestEnded();
  }

  left(connection: OpenConnection): void {
    this.#connections.delete(connection);
  }

  closeIdle(): void {
    this.#connections.closeIdle();
  }

  closeAll(): void {
    this.#connections.closeAll();
  }
}

function tickOf(options: RawDoorOptions): number {
  const { headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs } = options;
  const shortest = Math.min(headersTimeoutMs, requestTimeoutMs, keepAliveTimeoutMs, idleTimeoutMs);
  return Math.min(LOOK_MAX_MS, Math.ceil(shortest / TIMEOUT_CHECKS));
}
