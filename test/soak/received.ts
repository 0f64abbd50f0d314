/** Kinds of subscriptions; each client opens those that it supports. */
export const kinds = [
  'account',
  'program',
  'logs',
  'mentions',
  'signature',
  'slot',
  'root',
  'block',
  'transaction',
] as const;
export type Kind = (typeof kinds)[number];

/**
 * A notification: `name` is the transaction, the account or the slot; `state` is the balance of an account.
 */
export type Notification = Readonly<{ slot: number; name: string; state: string }>;

/** Notifications of one client and kind, in order. */
export class ReceivedNotifications {
  readonly client: string;
  readonly kind: Kind;
  readonly notifications: Notification[] = [];
  /** Subscription ids of the notifications, if the client exposes them. */
  readonly ids = new Set<number>();
  /** The acknowledged id, if the client exposes it. */
  id: number | null = null;
  /** Why it ended. */
  ended: string | null = null;

  constructor(client: string, kind: Kind) {
    this.client = client;
    this.kind = kind;
  }

  add(slot: number, name: string, state = ''): void {
    this.notifications.push({ slot, name, state });
  }
}
