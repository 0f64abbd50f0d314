import type { Heard } from './heard.ts';

/** What the soak subscribed to. */
export type Watched = Readonly<{ account: string; mentioned: string; program: string }>;

type BlockJson = Readonly<{
  transactions: readonly Readonly<{
    transaction: { signatures: readonly string[]; accountKeys: readonly { pubkey: string }[] };
  }>[];
}>;

type Ask = (method: string, params: readonly unknown[]) => Promise<unknown>;

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

/** JSON-RPC of the ledger itself, past gateway and proxies. */
export function asking(url: string): Ask {
  return async (method, params) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
    const answer = (await response.json()) as { result?: unknown; error?: { message: string } };
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
    const common = { client, kind, heard: told.length };
    if (kind === 'account' || kind === 'program') {
      const backwards = this.#backwards(heard);
      return {
        ...common,
        missed: this.#statesMissed(heard, states),
        doubled: this.#doubled(heard),
        odd: [...odd, ...backwards],
      };
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

  #expected({ kind, told }: Heard): string[] {
    // What lay in the first slot may have been told before the subscription stood.
    const from = (told[0]?.slot ?? 0) + 1;
    const slots = [...this.#blocks.keys()].filter((slot) => slot >= from);
    if (kind === 'slot' || kind === 'root' || kind === 'block') return slots.map(String);
    const { mentioned } = this.#watched;
    const wanted = (keys: readonly string[]): boolean =>
      kind === 'mentions' ? keys.includes(mentioned) : !keys.includes(VOTE);
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
    return told.flatMap(({ slot, name, state }) => {
      const key = ofState ? `${name} ${slot} ${state}` : name;
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

  #backwards({ told }: Heard): string[] {
    const newest = new Map<string, number>();
    return told.flatMap(({ name, slot }) => {
      const before = newest.get(name) ?? -1;
      newest.set(name, Math.max(before, slot));
      return slot < before ? [`${name} went back from ${before} to ${slot}`] : [];
    });
  }
}
