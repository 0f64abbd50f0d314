import { setTimeout as sleep } from 'node:timers/promises';
import { type Dispatcher, getGlobalDispatcher, request } from 'undici';

export type Watched = Readonly<{ account: string; mentioned: string; program: string }>;

type BlockJson = Readonly<{
  transactions: readonly Readonly<{
    transaction: { signatures: readonly string[]; accountKeys: readonly { pubkey: string }[] };
  }>[];
}>;

/** Subscription kinds; each client opens those that it supports. */
export type Kind =
  | ('account' | 'program')
  | ('logs' | 'mentions' | 'signature' | 'transaction')
  | ('slot' | 'root' | 'block');

/** A notification: `name` is a transaction, account or slot; `state` is the balance of an account. */
type Notification = Readonly<{ slot: number; name: string; state: string }>;

/** Notifications of one client and kind, in order. */
export class ReceivedNotifications {
  readonly client: string;
  readonly kind: Kind;
  readonly notifications: Notification[] = [];
  /** Why the subscription ended; null while it is active. */
  ended: string | null = null;

  constructor(client: string, kind: Kind) {
    this.client = client;
    this.kind = kind;
  }

  add(slot: number, name: string, state = ''): void {
    this.notifications.push({ slot, name, state });
  }

  /**
   * Adds a notification in the server's format, with numbers or bigints.
   * @param name - name of the account or signature, if the notification does not contain it.
   */
  // biome-ignore lint/suspicious/noExplicitAny: each kind has its own shape
  note(result: any, name = ''): void {
    const { kind } = this;
    if (kind === 'root') this.add(Number(result), String(result));
    else if (kind === 'slot') this.add(Number(result.slot), String(result.slot));
    else if (kind === 'transaction') this.add(result.slot, result.signature);
    else {
      const { context, value } = result;
      const slot = Number(context.slot);
      if (kind === 'block') this.add(Number(value.slot), String(value.slot));
      else if (kind === 'signature') this.add(slot, name);
      else if (kind === 'account') this.add(slot, name, String(value.lamports));
      else if (kind === 'program') this.add(slot, value.pubkey, String(value.account.lamports));
      else this.add(slot, value.signature);
    }
  }
}

export type SendRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** Names of missed and duplicate notifications of a subscription. */
export type CheckResult = Readonly<{
  client: string;
  kind: string;
  received: number;
  missed: readonly string[];
  doubled: readonly string[];
  /** Slots that are older than earlier ones, and the end of a subscription. */
  odd: readonly string[];
}>;

export const isFaulty = ({ missed, doubled, odd }: CheckResult): boolean =>
  missed.length + doubled.length + odd.length > 0;

export const describeFaults = ({ client, kind, missed, doubled, odd }: CheckResult): string =>
  `${client} ${kind}: ${JSON.stringify({ missed: missed.slice(0, 5), doubled: doubled.slice(0, 5), odd: odd.slice(0, 5) })}`;

const VOTE = 'Vote111111111111111111111111111111111111111';

export function createSendRequest(url: string, dispatcher: Dispatcher = getGlobalDispatcher()): SendRequest {
  return async (method, params) => {
    const { body } = await request(url, {
      ...{ method: 'POST', dispatcher, headers: { 'content-type': 'application/json' } },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await body.json()) as { result?: unknown; error?: { message: string } };
    if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
    return answer.result;
  };
}

const isState = ({ kind }: ReceivedNotifications): boolean => kind === 'account' || kind === 'program';

type States = ReadonlyMap<string, string>;

export class LedgerTruth {
  readonly #request: SendRequest;
  readonly #watched: Watched;
  readonly #blocks = new Map<number, BlockJson>();

  constructor(send: SendRequest, watched: Watched) {
    this.#request = send;
    this.#watched = watched;
  }

  async read(from: number, to: number): Promise<void> {
    const slots = (await this.#request('getBlocks', [from, to])) as number[];
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 0 };
    for (const slot of slots) {
      this.#blocks.set(slot, (await this.#request('getBlock', [slot, config])) as BlockJson);
    }
  }

  /** Compares all subscriptions with the ledger, repeatedly until none has faults or the timeout is over. */
  async checkAll(
    received: readonly ReceivedNotifications[],
    waitedFor: readonly string[],
    states: States,
    timeoutMs: number,
  ): Promise<CheckResult[]> {
    const until = performance.now() + timeoutMs;
    for (;;) {
      const results = received.map((one) => this.#check(one, waitedFor, states));
      if (performance.now() >= until || !results.some(isFaulty)) return results;
      await sleep(500);
    }
  }

  /** The last states and the last expected signature, if a client did not receive them. */
  lastMissed(received: ReceivedNotifications, waitedFor: readonly string[], states: States): string[] {
    const { client, kind } = received;
    const missed = isState(received)
      ? this.#statesMissed(received, states)
      : kind === 'signature'
        ? this.#namesMissed(received, waitedFor.slice(-1))
        : [];
    return missed.map((name) => `${client} ${kind} ${name}`);
  }

  /** Checks from the first notification to the end of the range that was read. */
  #check(received: ReceivedNotifications, waitedFor: readonly string[], states: States): CheckResult {
    const { client, kind, notifications, ended } = received;
    return {
      ...{ client, kind, received: notifications.length },
      missed: isState(received)
        ? this.#statesMissed(received, states)
        : this.#namesMissed(received, kind === 'signature' ? waitedFor : this.#expected(received)),
      doubled: this.#doubled(received),
      odd: [...(ended === null ? [] : [ended]), ...this.#backwards(received)],
    };
  }

  #expected({ kind, notifications }: ReceivedNotifications): string[] {
    // The first slot may have started before the subscription.
    const from = (notifications[0]?.slot ?? 0) + 1;
    const slots = [...this.#blocks.keys()].filter((slot) => slot >= from);
    if (kind === 'slot' || kind === 'root' || kind === 'block') return slots.map(String);
    const { mentioned } = this.#watched;
    const matches = (keys: readonly string[]): boolean =>
      kind === 'mentions' || kind === 'transaction' ? keys.includes(mentioned) : !keys.includes(VOTE);
    return slots.flatMap((slot) =>
      this.#blocks
        .get(slot)!
        .transactions.filter(({ transaction }) =>
          matches(transaction.accountKeys.map(({ pubkey }) => pubkey)),
        )
        .map(({ transaction }) => transaction.signatures[0] ?? ''),
    );
  }

  #namesMissed({ notifications }: ReceivedNotifications, expected: readonly string[]): string[] {
    const names = new Set(notifications.map(({ name }) => name));
    return expected.filter((name) => !names.has(name));
  }

  #doubled(received: ReceivedNotifications): string[] {
    const seen = new Set<string>();
    return received.notifications.flatMap(({ slot, name, state }) => {
      // Only the balance of a leader returns to an earlier value, in another slot.
      const key = isState(received) ? `${name} ${slot} ${state}` : name;
      if (seen.has(key)) return [key];
      seen.add(key);
      return [];
    });
  }

  /** Only the last state is required; earlier ones may be skipped. */
  #statesMissed({ kind, notifications }: ReceivedNotifications, states: States): string[] {
    const last = new Map(notifications.map(({ name, state }) => [name, state]));
    const required = kind === 'account' ? [this.#watched.account] : [...states.keys()];
    return required.filter((name) => last.get(name) !== states.get(name));
  }

  /** Slots never decrease within a subscription, except between different accounts of a program. */
  #backwards({ kind, notifications }: ReceivedNotifications): string[] {
    // Each signature has its own subscription.
    if (kind === 'signature') return [];
    const newest = new Map<string, number>();
    return notifications.flatMap(({ name, slot }) => {
      const key = kind === 'program' ? name : kind;
      const before = newest.get(key) ?? -1;
      newest.set(key, Math.max(before, slot));
      return slot < before ? [`${name} went back from ${before} to ${slot}`] : [];
    });
  }
}
