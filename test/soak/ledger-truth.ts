import { type Dispatcher, getGlobalDispatcher, request } from 'undici';
import type { Heard } from './heard.ts';

/** What the soak subscribed to. */
export type Watched = Readonly<{ account: string; mentioned: string; program: string }>;

type BlockJson = Readonly<{
  transactions: readonly Readonly<{
    transaction: { signatures: readonly string[]; accountKeys: readonly { pubkey: string }[] };
  }>[];
}>;

/** Calls a method. */
export type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

/** What was missed and what came twice, by its names. */
export type Verdict = Readonly<{
  client: string;
  kind: string;
  heard: number;
  missed: readonly string[];
  doubled: readonly string[];
  /** Notifications under another id than the acknowledged one, and the end of a subscription. */
  odd: readonly string[];
}>;

const VOTE = 'Vote111111111111111111111111111111111111111';

/** Calls methods of whoever serves JSON-RPC there. @param dispatcher - whose connections it uses. */
export function asking(url: string, dispatcher: Dispatcher = getGlobalDispatcher()): Ask {
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
  readonly #ask: Ask;
  readonly #watched: Watched;
  readonly #blocks = new Map<number, BlockJson>();

  constructor(ask: Ask, watched: Watched) {
    this.#ask = ask;
    this.#watched = watched;
  }

  /** Reads the finalized blocks of a stretch. */
  async read(from: number, to: number): Promise<void> {
    const slots = (await this.#ask('getBlocks', [from, to])) as number[];
    const config = { transactionDetails: 'accounts', rewards: false, maxSupportedTransactionVersion: 0 };
    for (const slot of slots) {
      this.#blocks.set(slot, (await this.#ask('getBlock', [slot, config])) as BlockJson);
    }
  }

  /** Holds what a client heard against the ledger, from the first thing it heard to the end of what was read. */
  judge(heard: Heard, waitedFor: readonly string[], states: ReadonlyMap<string, string>): Verdict {
    const { client, kind, told, ids, id, ended } = heard;
    const odd = [...ids].filter((one) => one !== id).map((one) => `id ${one} for ${id}`);
    if (ended !== null) odd.push(ended);
    odd.push(...this.#backwards(heard));
    const common = { client, kind, heard: told.length };
    if (kind === 'account' || kind === 'program') {
      return { ...common, missed: this.#statesMissed(heard, states), doubled: this.#doubled(heard), odd };
    }
    const expected = kind === 'signature' ? waitedFor : this.#expected(heard);
    const names = new Set(told.map(({ name }) => name));
    return {
      ...common,
      missed: expected.filter((name) => !names.has(name)),
      doubled: this.#doubled(heard),
      odd,
    };
  }

  /** What a client was not told of the last states, and of the last signature that was waited for. */
  lastMissed(heard: Heard, waitedFor: readonly string[], states: ReadonlyMap<string, string>): string[] {
    const { client, kind, told } = heard;
    const missed = (): readonly string[] => {
      if (kind === 'account' || kind === 'program') return this.#statesMissed(heard, states);
      const isMissed = (name: string) => !told.some((one) => one.name === name);
      return kind === 'signature' ? waitedFor.slice(-1).filter(isMissed) : [];
    };
    return missed().map((name) => `${client} ${kind} ${name}`);
  }

  #expected({ kind, told }: Heard): string[] {
    // What lay in the first slot may have been told before the subscription stood.
    const from = (told[0]?.slot ?? 0) + 1;
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

  #doubled({ kind, told }: Heard): string[] {
    const ofState = kind === 'account' || kind === 'program';
    const seen = new Set<string>();
    return told.flatMap(({ name, state }) => {
      // Balances here never come back to what they were.
      const key = ofState ? `${name} ${state}` : name;
      if (seen.has(key)) return [key];
      seen.add(key);
      return [];
    });
  }

  /** Of states only the last is owed: those between are told when there was time. */
  #statesMissed({ kind, told }: Heard, states: ReadonlyMap<string, string>): string[] {
    const last = new Map(told.map(({ name, state }) => [name, state]));
    const owed = kind === 'account' ? [this.#watched.account] : [...states.keys()];
    return owed.filter((name) => last.get(name) !== states.get(name));
  }

  /** Slots never go back within a subscription; of a program they may from one account to another. */
  #backwards({ kind, told }: Heard): string[] {
    // Each signature is a subscription of its own.
    if (kind === 'signature') return [];
    const newest = new Map<string, number>();
    return told.flatMap(({ name, slot }) => {
      const key = kind === 'program' ? name : kind;
      const before = newest.get(key) ?? -1;
      newest.set(key, Math.max(before, slot));
      return slot < before ? [`${name} went back from ${before} to ${slot}`] : [];
    });
  }
}
