import type { Failure } from '../../protocol/errors.ts';
import { type Subscription, subscriptions } from '../../protocol/subscriptions.ts';
import type { Backlog } from '../../streams/session.ts';
import type { KeyRecord } from '../auth/key-record.ts';
import type { LiveConnection } from '../telemetry/live-connections.ts';

type OpenSubscriptions = ReadonlySet<Readonly<{ subscription: Subscription | null }>>;

const emptyBacklog: Backlog = { queuedMessages: 0, queuedBytes: 0 };

/** Returns the method and the first address or signature of the filter. */
export function describeSubscription(subscription: Subscription): string {
  const { subscribe } = subscriptions[subscription.kind];
  const target = targetOf(subscription);
  return target === null ? subscribe : `${subscribe} ${target}`;
}

function targetOf(subscription: Subscription): string | null {
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

export class LiveSession implements LiveConnection {
  readonly kind = 'websocket';
  readonly rpc = null;
  readonly key: KeyRecord;
  readonly address: string;
  readonly end: (failure: Failure) => void;
  messages = 0;
  bytes = 0;
  backlog: Backlog = emptyBacklog;
  readonly #open: OpenSubscriptions;

  constructor(key: KeyRecord, address: string, open: OpenSubscriptions, end: (failure: Failure) => void) {
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

  describe(max: number): string[] {
    const descriptions: string[] = [];
    for (const { subscription } of this.#open) {
      if (descriptions.length >= max) break;
      if (subscription !== null) descriptions.push(describeSubscription(subscription));
    }
    return descriptions;
  }
}
