import { randomBytes } from 'node:crypto';
import type { Failure } from '../../protocol/errors.ts';
import type { KeyRecord } from '../auth/key-record.ts';

export type Backlog = Readonly<{ queuedMessages: number; queuedBytes: number }>;

export interface LiveConnection extends Backlog {
  readonly kind: 'websocket' | 'grpc';
  /** Null for a WebSocket. */
  readonly rpc: string | null;
  readonly key: Pick<KeyRecord, 'id' | 'customerId'>;
  readonly address: string;
  /** Number of WebSocket subscriptions or stream filters. */
  readonly subscriptions: number;
  readonly messages: number;
  readonly bytes: number;
  /** Describes at most `max` subscriptions or filters as text. */
  describe(max: number): string[];
  /** Closes the connection with the code and text of the failure. */
  end(failure: Failure): void;
}

export type ConnectionInfo = Omit<LiveConnection, 'key' | 'describe' | 'end'> &
  Readonly<{
    id: string;
    keyId: string;
    customerId: string;
    /** Unix milliseconds. */
    since: number;
    about: readonly string[];
    messagesPerSecond: number;
    bytesPerSecond: number;
  }>;

/** Connections of a customer that were closed in one minute because the client read too slowly. */
export type LaggedMinute = Readonly<{
  customerId: string;
  /** Unix minutes. */
  minute: number;
  connections: number;
}>;

const DESCRIPTIONS_MAX = 10;
/** Maximum number of rows (customer and minute). */
const LAGGED_MAX = 10_000;
const LAGGED_MINUTES = 60;

type ConnectionEntry = {
  readonly connection: LiveConnection;
  readonly since: number;
  /** Totals at the last snapshot, from which rates are computed. */
  messages: number;
  bytes: number;
};

const rounded = (value: number): number => Math.round(value * 100) / 100;

export class LiveConnections {
  readonly #entries = new Map<string, ConnectionEntry>();
  /** Prefix of connection ids, unique per process and not guessable. */
  readonly #prefix = randomBytes(8).toString('hex');
  #count = 0;
  #snapshotAt = performance.now();
  /** Counts of lagged connections by minute (oldest first) and customer. */
  readonly #lagged = new Map<number, Map<string, number>>();
  #laggedRows = 0;
  #laggedTotal = 0;

  get size(): number {
    return this.#entries.size;
  }

  /** Connections closed since process start because the client read too slowly. */
  get lagged(): number {
    return this.#laggedTotal;
  }

  /** Returns the number of open connections of a kind and their total backlog. */
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

  /** @returns a function to call once when the connection is closed. */
  add(connection: LiveConnection): () => void {
    const id = `${this.#prefix}${(++this.#count).toString(36)}`;
    this.#entries.set(id, { connection, since: Date.now(), messages: 0, bytes: 0 });
    return () => void this.#entries.delete(id);
  }

  /** Closes a connection. @returns whether it existed. */
  close(id: string, failure: Failure): boolean {
    const entry = this.#entries.get(id);
    entry?.connection.end(failure);
    return entry !== undefined;
  }

  /** @param nowMs - Unix milliseconds. */
  recordLagged(customerId: string, nowMs: number): void {
    this.#laggedTotal++;
    const minute = Math.floor(nowMs / 60_000);
    const counts = this.#lagged.get(minute) ?? new Map<string, number>();
    this.#lagged.set(minute, counts);
    if (this.#lagged.size > LAGGED_MINUTES) this.#forgetOldestMinute();
    if (!counts.has(customerId)) {
      while (this.#laggedRows >= LAGGED_MAX && this.#lagged.size > 1) this.#forgetOldestMinute();
      if (this.#laggedRows >= LAGGED_MAX) return;
      this.#laggedRows++;
    }
    counts.set(customerId, (counts.get(customerId) ?? 0) + 1);
  }

  #forgetOldestMinute(): void {
    const [oldest] = this.#lagged;
    if (oldest === undefined) return;
    const [minute, counts] = oldest;
    this.#lagged.delete(minute);
    this.#laggedRows -= counts.size;
  }

  laggedMinutes(): LaggedMinute[] {
    return [...this.#lagged].flatMap(([minute, counts]) =>
      [...counts].map(([customerId, connections]) => ({ customerId, minute, connections })),
    );
  }

  /** Rates cover the time since the last snapshot, so there must be only one reader. */
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
