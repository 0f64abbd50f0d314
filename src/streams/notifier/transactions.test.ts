import { describe, expect, it } from 'vitest';
import {
  block,
  executed,
  key,
  LedgerScript,
  NotificationRecorder,
  signature,
  type TransactionOptions,
} from '../../../test/streams/ledger-script.ts';
import type { SubscriptionOf, TransactionFilter } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { TokenBalance } from '../../solana/transaction/transaction-meta.ts';
import { LedgerNotifier } from '../ledger-notifier.ts';

type TransactionSubscription = SubscriptionOf<'transaction'>;

const anything: TransactionFilter = {
  vote: null,
  failed: null,
  signature: null,
  include: [],
  exclude: [],
  required: [],
  tokenAccounts: 'none',
};

const transactions = (changes: Partial<TransactionSubscription> = {}): TransactionSubscription => ({
  kind: 'transaction',
  dialect: 'helius',
  filter: anything,
  commitment: 'processed',
  encoding: 'base64',
  details: 'full',
  rewards: false,
  maxVersion: 0,
  ...changes,
});

function stage() {
  const notifier = new LedgerNotifier();
  const subscribe = (subscription: Parameters<LedgerNotifier['add']>[0]): NotificationRecorder => {
    const recorder = new NotificationRecorder();
    notifier.add(subscription, recorder);
    return recorder;
  };
  return { subscribe, story: new LedgerScript(notifier) };
}

function run(
  story: LedgerScript,
  ...all: readonly (Partial<TransactionOptions> & { isVote?: boolean })[]
): void {
  story.created(1);
  for (const { isVote = false, ...of } of all) story.transaction(1, of, isVote);
  story.processed(1);
}

const balance = (owner: Address | null, amount: bigint, accountIndex = 0): TokenBalance => ({
  accountIndex,
  mint: key(90),
  owner,
  programId: key(91),
  amount,
  decimals: 0,
});

const loading = (n: number, ...writable: number[]): Partial<TransactionOptions> => ({
  n,
  version: 0,
  meta: { loadedAddresses: { writable: writable.map(key), readonly: [key(77)] } },
});

describe('logs', () => {
  const logs = (of: SubscriptionOf<'logs'>['of']): SubscriptionOf<'logs'> => ({
    kind: 'logs',
    of,
    commitment: 'processed',
  });
  const signatures = (recorder: NotificationRecorder): unknown[] =>
    recorder.values.map((value) => (value as { signature: unknown }).signature);

  it('are emitted with signature and error', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(logs('all'));
    run(story, { n: 1, meta: { err: 'AccountInUse' } });
    expect(recorder.texts).toEqual([
      `{"context":{"slot":1},"value":{"signature":"${signature(1)}","err":"AccountInUse","logs":["log of 1"]}}`,
    ]);
  });

  it('of all transactions exclude votes', () => {
    const { subscribe, story } = stage();
    const all = subscribe(logs('all'));
    const allWithVotes = subscribe(logs('allWithVotes'));
    run(story, { n: 1 }, { n: 2, isVote: true });
    expect(signatures(all)).toEqual([signature(1)]);
    expect(signatures(allWithVotes)).toEqual([signature(1), signature(2)]);
  });

  it('of a mention include loaded addresses and votes', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(logs({ mentions: key(7) }));
    run(story, { n: 1, keys: [1, 7] }, { n: 2 }, loading(3, 7), { n: 4, keys: [7], isVote: true });
    expect(signatures(recorder)).toEqual([signature(1), signature(3), signature(4)]);
  });

  it('are not emitted for transactions that were only charged, or whose logs were not stored', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(logs('all'));
    const failed = { InstructionError: [0, 'GenericError'] } as const;
    run(
      story,
      { n: 1, meta: { err: 'ProgramAccountNotFound', logMessages: [] } },
      { n: 2, meta: { logMessages: null } },
      { n: 3, meta: { logMessages: [] } },
      { n: 4, meta: { err: failed, logMessages: [] } },
    );
    expect(signatures(recorder)).toEqual([signature(3), signature(4)]);
  });
});

describe('transactions', () => {
  const shown = (recorder: NotificationRecorder): unknown[] =>
    recorder.texts.map((text) => JSON.parse(text).signature);
  const filtered = (filter: Partial<TransactionFilter>): TransactionSubscription =>
    transactions({ details: 'signatures', filter: { ...anything, ...filter } });

  it.each<[string, Partial<TransactionFilter>, number[]]>([
    ['without a filter', {}, [1, 2, 3, 4, 5]],
    ['by votes', { vote: true }, [2]],
    ['by failure', { failed: true }, [3]],
    ['by signature', { signature: signature(4) }, [4]],
    ['by any of two addresses', { include: [key(10), key(77)] }, [1, 3, 4, 5]],
    ['by all of two addresses', { required: [key(10), key(11)] }, [3]],
    ['by none of two addresses', { exclude: [key(11), key(77)] }, [1, 2]],
    ['by an address that only owns tokens', { include: [key(60)] }, []],
    ['by owners of tokens', { include: [key(60), key(61)], tokenAccounts: 'all' }, [4, 5]],
    ['by owners of tokens that moved', { include: [key(60), key(61)], tokenAccounts: 'balanceChanged' }, [4]],
    ['by all but owners of tokens', { exclude: [key(60)], tokenAccounts: 'all' }, [1, 2, 3]],
  ])('are selected %s', (_what, filter, expected) => {
    const { subscribe, story } = stage();
    const recorder = subscribe(filtered(filter));
    const balances = [balance(key(60), 5n), balance(null, 6n, 1)];
    const unchanged = { preTokenBalances: balances, postTokenBalances: balances };
    const moved = {
      preTokenBalances: balances,
      postTokenBalances: [balance(key(60), 6n), balance(null, 6n, 1)],
    };
    run(
      story,
      { n: 1, keys: [1, 10] },
      { n: 2, isVote: true },
      { n: 3, keys: [10, 11], meta: { err: 'AccountInUse' } },
      { ...loading(4, 10), meta: { ...loading(4, 10).meta, ...moved } },
      { ...loading(5, 12), meta: { ...loading(5, 12).meta, ...unchanged } },
    );
    expect(shown(recorder)).toEqual(expected.map(signature));
  });

  it('have the shape of Helius', () => {
    const { subscribe, story } = stage();
    const full = subscribe(transactions());
    const none = subscribe(transactions({ details: 'none' }));
    run(story, { n: 8 }, { n: 9 });
    const last = `"signature":"${signature(9)}","slot":1,"transactionIndex":1}`;
    expect(full.texts[1]).toMatch(
      /^\{"transaction":\{"transaction":\["CQ==","base64"\],"meta":\{"err":null,"status":/,
    );
    expect(full.texts[1]?.endsWith(`,"version":"legacy"},${last}`)).toBe(true);
    expect(none.texts[1]).toBe(`{${last}`);
  });

  it('have the shape of Whirligig', () => {
    const { subscribe, story } = stage();
    const full = subscribe(transactions({ dialect: 'whirligig' }));
    const signatures = subscribe(transactions({ dialect: 'whirligig', details: 'signatures' }));
    const none = subscribe(transactions({ dialect: 'whirligig', details: 'none' }));
    run(story, { n: 9 });
    expect(full.texts[0]).toMatch(
      /^\{"context":\{"slot":1\},"value":\{"slot":1,"transaction":\{"transaction":\["CQ==","base64"\],"meta":/,
    );
    expect(signatures.values).toEqual([{ slot: 1, signature: signature(9) }]);
    expect(none.values).toEqual([{ slot: 1 }]);
  });

  it('of a version that the client does not support are omitted, or reported as an error', () => {
    const { subscribe, story } = stage();
    const helius = subscribe(transactions({ maxVersion: undefined }));
    const whirligig = subscribe(transactions({ maxVersion: undefined, dialect: 'whirligig' }));
    run(story, { n: 1, version: 0 }, { n: 2 });
    expect(shown(helius)).toEqual([signature(2)]);
    expect(whirligig.values[0]).toEqual({ slot: 1, error: { UnsupportedTransactionVersion: 0 } });
  });
});

describe('blocks', () => {
  const blocks = (changes: Partial<SubscriptionOf<'block'>> = {}): SubscriptionOf<'block'> => ({
    kind: 'block',
    mentions: null,
    commitment: 'confirmed',
    encoding: 'base64',
    details: 'signatures',
    rewards: true,
    maxVersion: undefined,
    ...changes,
  });

  function emitBlock(story: LedgerScript, at: number, ...all: readonly Partial<TransactionOptions>[]): void {
    story.created(at);
    story.frozen(at);
    story.block(block(at, all.map(executed)));
    story.confirmed(at);
  }

  it('are emitted with their members in the order of Agave', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(blocks());
    emitBlock(story, 2, { n: 1 });
    const { blockhash, previousBlockhash } = block(2, []);
    expect(recorder.texts).toEqual([
      `{"context":{"slot":2},"value":{"slot":2,"block":{"previousBlockhash":"${previousBlockhash}",` +
        `"blockhash":"${blockhash}","parentSlot":1,"signatures":["${signature(1)}"],"rewards":[],` +
        `"blockTime":1002,"blockHeight":2},"err":null}}`,
    ]);
  });

  it('of a mention contain only matching transactions, and are not emitted without any', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(blocks({ mentions: key(7), maxVersion: 0 }));
    emitBlock(story, 2, { n: 1, keys: [1, 7] }, { n: 2 }, loading(3, 7));
    emitBlock(story, 3, { n: 4 });
    expect(recorder.slots).toEqual([2]);
    expect(recorder.values).toMatchObject([{ block: { signatures: [signature(1), signature(3)] } }]);
  });

  it('are reported as an error when the client does not support a transaction', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(blocks({ details: 'full' }));
    emitBlock(story, 2, { n: 1, version: 0 });
    expect(recorder.texts).toEqual([
      '{"context":{"slot":2},"value":{"slot":2,"block":null,"err":{"UnsupportedTransactionVersion":0}}}',
    ]);
  });

  it('are reported as an error when unavailable', () => {
    const { subscribe, story } = stage();
    const recorder = subscribe(blocks());
    story.created(2);
    story.frozen(2);
    story.confirmed(2);
    expect(recorder.texts).toEqual([
      '{"context":{"slot":2},"value":{"slot":2,"block":null,"err":"BlockStoreError"}}',
    ]);
  });
});
