import { randomBytes } from 'node:crypto';
import type { KeyRecord } from '../access/key-record.ts';
import type { Failure } from '../protocol/errors.ts';

/** What waits on a connection because its client reads slowly. */
export type Backlog = Readonly<{ queuedMessages: number; queuedBytes: number }>;

/** One open WebSocket or gRPC stream, as whoever keeps it tells of it. Read only when somebody wants to know. */
export interface LiveConnection extends Backlog {
  readonly kind: 'websocket' | 'grpc';
  /** The call that opened a stream; null for a socket. */
  readonly rpc: string | null;
  readonly key: Pick<KeyRecord, 'id' | 'customerId'>;
  readonly address: string;
  /** Subscriptions of a socket, filters of a stream. */
  readonly subscriptions: number;
  /** Told without having been asked again, since it is open. */
  readonly messages: number;
  readonly bytes: number;
  /** What it is subscribed to, in words of the wire, at most so many. */
  about(max: number): string[];
  /** Closes it with the code and the text of the failure. */
  end(failure: Failure): void;
}

/** A connection as lists show it. */
export type ConnectionFacts = Readonly<{
  id: string;
  kind: 'websocket' | 'grpc';
  rpc: string | null;
  keyId: string;
  customerId: string;
  address: string;
  /** Unix milliseconds. */
  since: number;
  subscriptions: number;
  about: readonly string[];
  messagesPerSecond: number;
  bytesPerSecond: number;
  messages: number;
  bytes: number;
  queuedMessages: number;
  queuedBytes: number;
}>;

/** Connections of a customer that were cut because their clients read too slowly, in one minute. */
export type LaggedMinute = Readonly<{
  customerId: string;
  /** Unix minutes. */
  minute: number;
  connections: number;
}>;

/** Lists show what so many of a connection's subscriptions are about. */
const ABOUT_MAX = 10;
/** Customers of whom it is counted how many lag, over all minutes that are kept. */
const LAGGED_MAX = 10_000;
/** Whoever tells of them may be kept from it for so many minutes. */
const LAGGED_MINUTES = 60;

type Held = {
  readonly connection: LiveConnection;
  readonly since: number;
  /** As they were at the last look, for the rates. */
  messages: number;
  bytes: number;
};

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** The long connections of this process: who is there, what goes over them, and a way to close one. */
export class LiveConnections {
  readonly #held = new Map<string, Held>();
  /** No two processes give the same id, and none can be guessed. */
  readonly #prefix = randomBytes(8).toString('hex');
  #count = 0;
  #lookedAt = performance.now();
  /** By minute, the oldest first, and customer. */
  readonly #lagged = new Map<number, Map<string, number>>();
  #laggedRows = 0;
  #laggedInAll = 0;

  /** Connections that are open. */
  get size(): number {
    return this.#held.size;
  }

  /** Connections that were cut because they lagged, since the process began. */
  get lagged(): number {
    return this.#laggedInAll;
  }

  /** Connections of a kind that are open, and what waits on them. */
  totalOf(kind: LiveConnection['kind']): Readonly<{ open: number }> & Backlog {
    let open = 0;
    let queuedMessages = 0;
    let queuedBytes = 0;
    for (const { connection } of this.#held.values()) {
      if (connection.kind !== kind) continue;
      open++;
      queuedMessages += connection.queuedMessages;
      queuedBytes += connection.queuedBytes;
    }
    return { open, queuedMessages, queuedBytes };
  }

  /** A connection is open from now on. @returns what is called once, when it is not. */
  opened(connection: LiveConnection): () => void {
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    this.#held.set(id, { connection, since: Date.now(), messages: 0, bytes: 0 });
    return () => void this.#held.delete(id);
  }

  /** Closes one. @returns whether it is here. */
  close(id: string, failure: Failure): boolean {
    const held = this.#held.get(id);
    held?.connection.end(failure);
    return held !== undefined;
  }

  /** One was cut because its client read too slowly. @param nowMs - Unix milliseconds. */
  cutForLag(customerId: string, nowMs: number): void {
    this.#laggedInAll++;
    const minute = Math.floor(nowMs / 60_000);
    let counts = this.#lagged.get(minute);
    if (counts === undefined) {
      counts = new Map();
      this.#lagged.set(minute, counts);
      if (this.#lagged.size > LAGGED_MINUTES) this.#forgetOldestMinute();
    }
    if (!counts.has(customerId)) {
      while (this.#laggedRows >= LAGGED_MAX && this.#lagged.size > 1) this.#forgetOldestMinute();
      if (this.#laggedRows >= LAGGED_MAX) return;
      this.#laggedRows++;
    }
    counts.set(customerId, (counts.get(customerId) ?? 0) + 1);
  }

  #forgetOldestMinute(): void {
    for (const [minute, counts] of this.#lagged) {
      this.#lagged.delete(minute);
      this.#laggedRows -= counts.size;
      return;
    }
  }

  /** The totals of the last minutes in which any lagged. */
  laggedMinutes(): LaggedMinute[] {
    return [...this.#lagged].flatMap(([minute, counts]) =>
      [...counts].map(([customerId, connections]) => ({ customerId, minute, connections })),
    );
  }

  /**
   * What is open, those over which most went lately first. Rates are over the time since the last look, so there is one
   * who looks.
   */
  look(max: number): ConnectionFacts[] {
    const now = performance.now();
    const seconds = Math.max(0.001, (now - this.#lookedAt) / 1_000);
    this.#lookedAt = now;
    const rated = [...this.#held].map(([id, held]) => {
      const { messages, bytes } = held.connection;
      const rates = { messages: (messages - held.messages) / seconds, bytes: (bytes - held.bytes) / seconds };
      held.messages = messages;
      held.bytes = bytes;
      return { id, held, rates };
    });
    if (rated.length > max) rated.sort((a, b) => b.rates.bytes - a.rates.bytes);
    return rated.slice(0, max).map(({ id, held, rates }) => factsOf(id, held, rates));
  }
}

function factsOf(
  id: string,
  { connection, since, messages, bytes }: Held,
  rates: Readonly<{ messages: number; bytes: number }>,
): ConnectionFacts {
  const { kind, rpc, key, address, subscriptions, queuedMessages, queuedBytes } = connection;
  return {
    ...{ id, kind, rpc, address, since, subscriptions, messages, bytes, queuedMessages, queuedBytes },
    keyId: key.id,
    customerId: key.customerId,
    about: connection.about(ABOUT_MAX),
    messagesPerSecond: rounded(rates.messages),
    bytesPerSecond: rounded(rates.bytes),
  };
}
