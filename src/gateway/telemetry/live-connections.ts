import { randomBytes } from 'node:crypto';
import type { Failure } from '../../protocol/errors.ts';
import type { KeyRecord } from '../auth/key-record.ts';

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
  describe(max: number): string[];
  /** Closes it with the code and the text of the failure. */
  end(failure: Failure): void;
}

/** A connection as lists show it. */
export type ConnectionInfo = Readonly<{
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
const DESCRIPTIONS_MAX = 10;
/** Customers of whom it is counted how many lag, over all minutes that are kept. */
const LAGGED_MAX = 10_000;
/** Whoever tells of them may be kept from it for so many minutes. */
const LAGGED_MINUTES = 60;

type ConnectionEntry = {
  readonly connection: LiveConnection;
  readonly since: number;
  /** As they were at the last look, for the rates. */
  messages: number;
  bytes: number;
};

const rounded = (value: number): number => Math.round(value * 100) / 100;

/** The long connections of this process: who is there, what goes over them, and a way to close one. */
export class LiveConnections {
  readonly #entries = new Map<string, ConnectionEntry>();
  /** No two processes give the same id, and none can be guessed. */
  readonly #prefix = randomBytes(8).toString('hex');
  #count = 0;
  #snapshotAt = performance.now();
  /** By minute, the oldest first, and customer. */
  readonly #lagged = new Map<number, Map<string, number>>();
  #laggedRows = 0;
  #laggedTotal = 0;

  /** Connections that are open. */
  get size(): number {
    return this.#entries.size;
  }

  /** Connections that were cut because they lagged, since the process began. */
  get lagged(): number {
    return this.#laggedTotal;
  }

  /** Connections of a kind that are open, and what waits on them. */
  totalOf(kind: LiveConnection['kind']): Readonly<{ open: number }> & Backlog {
    let open = 0;
    let queuedMessages = 0;
    let queuedBytes = 0;
    for (const { connection } of this.#entries.values()) {
      if (connection.kind !== kind) continue;
      open++;
      queuedMessages += connection.queuedMessages;
      queuedBytes += connection.queuedBytes;
    }
    return { open, queuedMessages, queuedBytes };
  }

  /** A connection is open from now on. @returns what is called once, when it is not. */
  add(connection: LiveConnection): () => void {
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    this.#entries.set(id, { connection, since: Date.now(), messages: 0, bytes: 0 });
    return () => void this.#entries.delete(id);
  }

  /** Closes one. @returns whether it is here. */
  close(id: string, failure: Failure): boolean {
    const entry = this.#entries.get(id);
    entry?.connection.end(failure);
    return entry !== undefined;
  }

  /** One was cut because its client read too slowly. @param nowMs - Unix milliseconds. */
  recordLagged(customerId: string, nowMs: number): void {
    this.#laggedTotal++;
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
  snapshot(max: number): ConnectionInfo[] {
    const now = performance.now();
    const seconds = Math.max(0.001, (now - this.#snapshotAt) / 1_000);
    this.#snapshotAt = now;
    const rated = [...this.#entries].map(([id, entry]) => {
      const { messages, bytes } = entry.connection;
      const rates = {
        messages: (messages - entry.messages) / seconds,
        bytes: (bytes - entry.bytes) / seconds,
      };
      entry.messages = messages;
      entry.bytes = bytes;
      return { id, entry, rates };
    });
    if (rated.length > max) rated.sort((a, b) => b.rates.bytes - a.rates.bytes);
    return rated.slice(0, max).map(({ id, entry, rates }) => infoOf(id, entry, rates));
  }
}

function infoOf(
  id: string,
  { connection, since, messages, bytes }: ConnectionEntry,
  rates: Readonly<{ messages: number; bytes: number }>,
): ConnectionInfo {
  const { kind, rpc, key, address, subscriptions, queuedMessages, queuedBytes } = connection;
  return {
    ...{ id, kind, rpc, address, since, subscriptions, messages, bytes, queuedMessages, queuedBytes },
    keyId: key.id,
    customerId: key.customerId,
    about: connection.describe(DESCRIPTIONS_MAX),
    messagesPerSecond: rounded(rates.messages),
    bytesPerSecond: rounded(rates.bytes),
  };
}
