import { Keypair } from '@solana/web3.js';
import { CommitmentLevel, type SubscribeUpdate } from '@triton-one/yellowstone-grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FundedService } from './funded-service.ts';
import { connected, listen, nothing, type UpdateCollector } from './yellowstone-client.ts';

/** Updates of the published client per slot at each commitment, through the whole service. */
let chain: FundedService;
const streams = new Map<string, UpdateCollector<SubscribeUpdate>>();
const levels = {
  processed: CommitmentLevel.PROCESSED,
  confirmed: CommitmentLevel.CONFIRMED,
  finalized: CommitmentLevel.FINALIZED,
};
const BURST = 12;
const any = { accountInclude: [], accountExclude: [], accountRequired: [] };
const everything = {
  ...nothing(),
  accounts: { a: { account: [], owner: [], filters: [] } },
  slots: { s: { filterByCommitment: true } },
  transactions: { t: any },
  transactionsStatus: { u: any },
  blocks: {
    b: { accountInclude: [], includeTransactions: true, includeAccounts: true, includeEntries: true },
  },
  blocksMeta: { m: {} },
  entry: { e: {} },
};

const signatureIn = ({ transaction }: SubscribeUpdate): string =>
  Buffer.from(transaction?.transaction?.signature ?? []).toString('hex');
const partOf = ({ filters: _f, createdAt: _c, ping: _p, pong: _q, ...parts }: SubscribeUpdate) =>
  Object.entries(parts).find(([, part]) => part !== undefined) as [string, { slot: string }] | undefined;

/** Updates of a stream for each slot of a range, in order. */
function slotsOf(name: string, from: number, to: number): Map<string, SubscribeUpdate[]> {
  const slots = new Map<string, SubscribeUpdate[]>();
  for (const update of streams.get(name)!.updates) {
    const slot = partOf(update)?.[1].slot;
    if (slot === undefined || Number(slot) < from || Number(slot) > to) continue;
    slots.set(slot, [...(slots.get(slot) ?? []), update]);
  }
  return slots;
}

let [first, last] = [0, 0];
const sent: string[] = [];

beforeAll(async () => {
  chain = await FundedService.start();
  const yellowstone = await connected(chain.service.ready.grpcUrl, chain.keyOf('grpc'));
  for (const [name, commitment] of Object.entries(levels)) {
    streams.set(name, await listen(yellowstone, { ...everything, commitment }));
  }
  for (const stream of streams.values()) {
    const { slot } = await stream.first((update) => update.slot !== undefined);
    first = Math.max(first, Number(slot!.slot) + 1);
  }
  const to = Keypair.generate().publicKey;
  const transfers = await Promise.all(
    Array.from({ length: BURST }, (_, n) => chain.transfer(to, 1_000_000 + n)),
  );
  for (const signature of await Promise.all(transfers.map((each) => chain.send(each)))) {
    sent.push(signature.toString('hex'));
  }
  const processed = streams.get('processed')!;
  for (const signature of sent) {
    const { transaction } = await processed.first((update) => signatureIn(update) === signature);
    last = Math.max(last, Number(transaction!.slot));
  }
  for (const stream of streams.values()) await stream.first(({ slot }) => Number(slot?.slot) >= last);
}, 60_000);
afterAll(async () => {
  for (const stream of streams.values()) stream.close();
  await chain?.stop();
});

const content = ['account', 'transaction', 'transactionStatus', 'entry'];
const accountsIn = (updates: readonly SubscribeUpdate[]): string[] =>
  updates.flatMap(({ account }) =>
    account === undefined ? [] : [Buffer.from(account.account!.pubkey).toString('hex')],
  );
const inBlock = (updates: readonly SubscribeUpdate[]) => updates.find(({ block }) => block)!.block!;

describe.each(Object.entries(levels))('a stream of every kind at %s', (name, commitment) => {
  const slots = () => slotsOf(name, first, last);

  it('delivers the content of each slot, then block, meta and status, each once', () => {
    expect(slots().size).toBeGreaterThan(0);
    for (const [slot, updates] of slots()) {
      const kinds = updates.map((update) => partOf(update)![0]);
      expect([slot, ...kinds.slice(-3)]).toEqual([slot, 'block', 'blockMeta', 'slot']);
      expect(kinds.slice(0, -3).filter((kind) => !content.includes(kind))).toEqual([]);
      expect(updates.at(-1)?.slot?.status).toBe(commitment);
    }
    const kinds = new Set([...slots().values()].flat().map((update) => partOf(update)![0]));
    expect([...kinds].toSorted()).toEqual([...content, 'block', 'blockMeta', 'slot'].toSorted());
  });

  it('delivers each transaction once, then its status, with slots in order', () => {
    const receivedUpdates = [...slots().values()].flat();
    expect(
      receivedUpdates.flatMap((update) => (update.transaction ? [signatureIn(update)] : [])).toSorted(),
    ).toEqual(expect.arrayContaining(sent.toSorted()));
    for (const signature of sent) {
      const at = receivedUpdates.flatMap((update, i) => (signatureIn(update) === signature ? [i] : []));
      expect(at).toHaveLength(1);
      const status = receivedUpdates[at[0]! + 1]!.transactionStatus!;
      expect(Buffer.from(status.signature).toString('hex')).toBe(signature);
    }
    const numbers = [...slots().keys()].map(Number);
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
    expect(numbers.at(-1)).toBe(last);
  });

  it('delivers blocks with the preceding updates and the last write of each account', () => {
    for (const updates of slots().values()) {
      const block = inBlock(updates);
      const newest = new Map(
        updates.flatMap(({ account }) =>
          account === undefined
            ? []
            : [[Buffer.from(account.account!.pubkey).toString('hex'), account.account!]],
        ),
      );
      expect(new Map(block.accounts.map((one) => [Buffer.from(one.pubkey).toString('hex'), one]))).toEqual(
        newest,
      );
      expect(block.accounts).toHaveLength(newest.size);
      expect(block.updatedAccountCount).toBe(String(newest.size));
      const observed = updates.flatMap(({ transaction }) => (transaction ? [transaction.transaction!] : []));
      expect(block.transactions).toEqual(observed);
      expect(block.entries).toEqual(updates.flatMap(({ entry }) => (entry ? [entry] : [])));
    }
  });
});

describe('an account that is written several times in a slot', () => {
  const doubled = (name: string): number => {
    let more = 0;
    for (const updates of slotsOf(name, first, last).values()) {
      const accounts = accountsIn(updates);
      more += accounts.length - new Set(accounts).size;
    }
    return more;
  };

  it('is delivered for each write at processed, and once at confirmed and at finalized', () => {
    expect(doubled('processed')).toBeGreaterThan(0);
    expect([doubled('confirmed'), doubled('finalized')]).toEqual([0, 0]);
  });
});
