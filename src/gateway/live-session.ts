import type { KeyRecord } from '../access/key-record.ts';
import type { LiveConnection } from '../observe/live-connections.ts';
import type { Failure } from '../protocol/errors.ts';
import { type Subscription, subscriptions } from '../protocol/subscriptions.ts';
import type { Backlog } from '../streams/session.ts';
import type { Held } from './held.ts';

const nothing: Backlog = { queuedMessages: 0, queuedBytes: 0 };

/** What a subscription is about, in words of the wire: its method, and the address or signature that it names first. */
export function aboutSubscription(subscription: Subscription): string {
  const { subscribe } = subscriptions[subscription.kind];
  const named = namedBy(subscription);
  return named === null ? subscribe : `${subscribe} ${named}`;
}

function namedBy(subscription: Subscription): string | null {
  switch (subscription.kind) {
    case 'account':
      return subscription.address;
    case 'program':
      return subscription.program;
    case 'signature':
      return subscription.signature;
    case 'logs':
      return typeof subscription.of === 'string' ? subscription.of : subscription.of.mentions;
    case 'block':
      return subscription.mentions;
    case 'transaction': {
      const { signature, include, required, exclude } = subscription.filter;
      return signature ?? include[0] ?? required[0] ?? exclude[0] ?? null;
    }
    default:
      return null;
  }
}

/** A WebSocket as lists of connections show it. */
export class LiveSession implements LiveConnection {
  readonly kind = 'websocket';
  readonly rpc = null;
  readonly key: KeyRecord;
  readonly address: string;
  readonly end: (failure: Failure) => void;
  messages = 0;
  bytes = 0;
  /** Where it can be seen what waits for the client. */
  backlog: Backlog = nothing;
  readonly #open: ReadonlySet<Held>;

  /** @param open - its subscriptions. @param end - ends the connection. */
  constructor(key: KeyRecord, address: string, open: ReadonlySet<Held>, end: (failure: Failure) => void) {
    this.key = key;
    this.address = address;
    this.#open = open;
    this.end = end;
  }

  get subscriptions(): number {
    return this.#open.size;
  }

  get queuedMessages(): number {
    return this.backlog.queuedMessages;
  }

  get queuedBytes(): number {
    return this.backlog.queuedBytes;
  }

  about(max: number): string[] {
    const words: string[] = [];
    for (const { subscription } of this.#open) {
      if (words.length >= max) break;
      if (subscription !== null) words.push(aboutSubscription(subscription));
    }
    return words;
  }
}
