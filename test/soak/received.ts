/** Kinds of subscriptions that the soak opens with every client that offers them. */
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
 * What is told, told apart by what it is about: `name` is a transaction, an account, or the slot itself; `state` is
 * what is told of it.
 */
export type Notification = Readonly<{ slot: number; name: string; state: string }>;

/** What one client heard of one kind, in the order in which it came. */
export class ReceivedNotifications {
  readonly client: string;
  readonly kind: Kind;
  readonly notifications: Notification[] = [];
  /** Ids of the notifications, where the client shows them. */
  readonly ids = new Set<number>();
  /** The id it was acknowledged under, where the client shows it. */
  id: number | null = null;
  /** Why it ended, when it did. */
  ended: string | null = null;

  constructor(client: string, kind: Kind) {
    this.client = client;
    this.kind = kind;
  }

  add(slot: number, name: string, state = ''): void {
    this.notifications.push({ slot, name, state });
  }
}
