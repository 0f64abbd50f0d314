import { type Dispatcher, getGlobalDispatcher, request } from 'undici';
import type { ReceivedNotifications } from './received.ts';

/** What the soak subscribed to. */
export type Watched = Readonly<{ account: string; mentioned: string; program: string }>;

type BlockJson = Readonly<{
  transactions: readonly Readonly<{
    transaction: { signatures: readonly string[]; accountKeys: readonly { pubkey: string }[] };
  }>[];
}>;

/** Calls a method. */
export type SendRequest = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** What was missed and what came twice, by its names. */
export type CheckResult = Readonly<{
  client: string;
  kind: string;
  received: number;
  missed: readonly string[];
  doubled: readonly string[];
  /** Notifications under another id than the acknowledged one, and the end of a subscription. */
  odd: readonly string[];
}>;

const VOTE = 'Vote111111111111111111111111111111111111111';

/** Calls methods of whoever serves JSON-RPC there. @param dispatcher - whose connections it uses. */
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

/** The ledger's own account of what happened, to hold what clients heard against. */
export class LedgerTruth {
  readonly #request: SendRequest;
  readonly #watched: Watched;
  readonly #blocks = new Map<number, BlockJson>();

  constructor(send: SendRequest, watched: Watched) {
    this.#request = send;
    this.#watched = watched;
  }

  /** Reads the finalized blocks of a stretch. */
  async read(from: number, to: number): Promise<void> {
    const slots = (await this.#request('getBlocks', [from, to])) as number[];
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 0 };
    for (const slot of slots) {
      this.#blocks.set(slot, (await this.#request('getBlock', [slot, config])) as BlockJson);
    }
  }

  /** Holds what a client heard against the ledger, from the first thing it heard to the end of what was read. */
  check(
    received: ReceivedNotifications,
    waitedFor: readonly string[],
    states: ReadonlyMap<string, string>,
  ): CheckResult {
    const { client, kind, notifications, ids, id, ended } = received;
    const odd = [...ids].filter((one) => one !== id).map((one) => `id ${one} for ${id}`);
    if (ended !== null) odd.push(ended);
    odd.push(...this.#backwards(received));
    const common = { client, kind, received: notifications.length };
    if (kind === 'account' || kind === 'program') {
      return {
        ...common,
        missed: this.#statesMissed(received, states),
        doubled: this.#doubled(received),
        odd,
      };
    }
    const expected = kind === 'signature' ? waitedFor : this.#expected(received);
    const names = new Set(notifications.map(({ name }) => name));
    return {
      ...common,
      missed: expected.filter((name) => !names.has(name)),
      doubled: this.#doubled(received),
      odd,
    };
  }

  /** What a client was not told of the last states, and of the last signature that was waited for. */
  lastMissed(
    received: ReceivedNotifications,
    waitedFor: readonly string[],
    states: ReadonlyMap<string, string>,
  ): string[] {
    const { client, kind, notifications } = received;
    const missed = (): readonly string[] => {
      if (kind === 'account' || kind === 'program') return this.#statesMissed(received, states);
      const isMissed = (name: string) => !notifications.some((one) => one.name === name);
      return kind === 'signature' ? waitedFor.slice(-1).filter(isMissed) : [];
    };
    return missed().map((name) => `${client} ${kind} ${name}`);
  }

  #expected({ kind, notifications }: ReceivedNotifications): string[] {
    // What lay in the first slot may have been told before the subscription stood.
    const from = (notifications[0]?.slot ?? 0) + 1;
    const slots = [...this.#blocks.keys()].filter((slot) => slot >= from);
    if (kind === 'slot' || kind === 'root' || kind === 'block') return slots.map(String);
    const { mentioned } = this.#watched;
    const wanted = (keys: readonly string[]): boolean =>
      kind === 'mentions' || kind === 'transaction' ? keys.includes(mentioned) : !keys.includes(VOTE);
    return slots.flatMap((slot) =>
      this.#blocks
        .get(slot)!
        .transactions.filter(({ transaction }) => wanted(transaction.accountKeys.map(({ pubkey }) => pubkey)))
        .map(({ transaction }) => transaction.signatures[0] ?? ''),
    );
  }

  #doubled({ kind, notifications }: ReceivedNotifications): string[] {
    const ofState = kind === 'account' || kind === 'program';
    const seen = new Set<string>();
    return notifications.flatMap(({ name, state }) => {
      // Balances here never come back to what they were.
      const key = ofState ? `${name} ${state}` : name;
      if (seen.has(key)) return [key];
      seen.add(key);
      return [];
    });
  }

  /** Of states only the last is owed: those between are told when there was time. */
  #statesMissed(
    { kind, notifications }: ReceivedNotifications,
    states: ReadonlyMap<string, string>,
  ): string[] {
    const last = new Map(notifications.map(({ name, state }) => [name, state]));
    const owed = kind === 'account' ? [this.#watched.account] : [...states.keys()];
    return owed.filter((name) => last.get(name) !== states.get(name));
  }

  /** Slots never go back within a subscription; of a program they may from one account to another. */
  #backwards({ kind, notifications }: ReceivedNotifications): string[] {
    // Each signature is a subscription of its own.
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
