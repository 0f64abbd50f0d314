import { describe, expect, it } from 'vitest';
import {
  block,
  executed,
  key,
  type LedgerScript,
  type NotificationRecorder,
  signature,
  type TransactionOptions,
} from '../../../test/streams/ledger-script.ts';
import { anyTransaction, blocks, stage } from '../../../test/streams/notifier-stage.ts';
import type { SubscriptionOf, TransactionFilter } from '../../protocol/subscriptions.ts';
import type { Address } from '../../solana/address.ts';
import type { TokenBalance } from '../../solana/transaction/transaction-meta.ts';

type TransactionSubscription = SubscriptionOf<'transaction'>;

const transactions = (changes: Partial<TransactionSubscription> = {}): TransactionSubscription => ({
  kind: 'transaction',
  dialect: 'helius',
  filter: anyTransaction,
  commitment: 'processed',
  encoding: 'base64',
  details: 'full',
  rewards: false,
  maxVersion: 0,
  ...changes,
});

function run(
  script: LedgerScript,
  ...all: readonly (Partial<TransactionOptions> & { isVote?: boolean })[]
): void {
  script.created(1);
  for (const { isVote = false, ...of } of all) script.transaction(1, of, isVote);
  script.processed(1);
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
    const { subscribe, script } = stage();
    const recorder = subscribe(logs('all'));
    run(script, { n: 1, meta: { err: 'AccountInUse' } });
    expect(recorder.texts).toEqual([
      `{"context":{"slot":1},"value":{"signature":"${signature(1)}","err":"AccountInUse","logs":["log of 1"]}}`,
    ]);
  });

  it('of all transactions exclude votes', () => {
    const { subscribe, script } = stage();
    const all = subscribe(logs('all'));
    const allWithVotes = subscribe(logs('allWithVotes'));
    run(script, { n: 1 }, { n: 2, isVote: true });
    expect(signatures(all)).toEqual([signature(1)]);
    expect(signatures(allWithVotes)).toEqual([signature(1), signature(2)]);
  });

  it('of a mention include loaded addresses and votes', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(logs({ mentions: key(7) }));
    run(script, { n: 1, keys: [1, 7] }, { n: 2 }, loading(3, 7), { n: 4, keys: [7], isVote: true });
    expect(signatures(recorder)).toEqual([signature(1), signature(3), signature(4)]);
  });

  it('are not emitted for transactions that were only charged, or whose logs were not stored', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(logs('all'));
    const failed = { InstructionError: [0, 'GenericError'] } as const;
    run(
      script,
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
    transactions({ details: 'signatures', filter: { ...anyTransaction, ...filter } });

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
    const { subscribe, script } = stage();
    const recorder = subscribe(filtered(filter));
    const balances = [balance(key(60), 5n), balance(null, 6n, 1)];
    const unchanged = { preTokenBalances: balances, postTokenBalances: balances };
    const moved = {
      preTokenBalances: balances,
      postTokenBalances: [balance(key(60), 6n), balance(null, 6n, 1)],
    };
    run(
      script,
      { n: 1, keys: [1, 10] },
      { n: 2, isVote: true },
      { n: 3, keys: [10, 11], meta: { err: 'AccountInUse' } },
      { ...loading(4, 10), meta: { ...loading(4, 10).meta, ...moved } },
      { ...loading(5, 12), meta: { ...loading(5, 12).meta, ...unchanged } },
    );
    expect(shown(recorder)).toEqual(expected.map(signature));
  });

  it('have the shape of Helius', () => {
    const { subscribe, script } = stage();
    const full = subscribe(transactions());
    const none = subscribe(transactions({ details: 'none' }));
    run(script, { n: 8 }, { n: 9 });
    const last = `"signature":"${signature(9)}","slot":1,"transactionIndex":1}`;
    expect(full.texts[1]).toMatch(
      /^\{"transaction":\{"transaction":\["CQ==","base64"\],"meta":\{"err":null,"status":/,
    );
    expect(full.texts[1]?.endsWith(`,"version":"legacy"},${last}`)).toBe(true);
    expect(none.texts[1]).toBe(`{${last}`);
  });

  it('have the shape of Whirligig', () => {
    const { subscribe, script } = stage();
    const full = subscribe(transactions({ dialect: 'whirligig' }));
    const signatures = subscribe(transactions({ dialect: 'whirligig', details: 'signatures' }));
    const none = subscribe(transactions({ dialect: 'whirligig', details: 'none' }));
    run(script, { n: 9 });
    expect(full.texts[0]).toMatch(
      /^\{"context":\{"slot":1\},"value":\{"slot":1,"transaction":\{"transaction":\["CQ==","base64"\],"meta":/,
    );
    expect(signatures.values).toEqual([{ slot: 1, signature: signature(9) }]);
    expect(none.values).toEqual([{ slot: 1 }]);
  });

  it('of a version that the client does not support are omitted, or reported as an error', () => {
    const { subscribe, script } = stage();
    const helius = subscribe(transactions({ maxVersion: undefined }));
    const whirligig = subscribe(transactions({ maxVersion: undefined, dialect: 'whirligig' }));
    run(script, { n: 1, version: 0 }, { n: 2 });
    expect(shown(helius)).toEqual([signature(2)]);
    expect(whirligig.values[0]).toEqual({ slot: 1, error: { UnsupportedTransactionVersion: 0 } });
  });
});

describe('blocks', () => {
  function emitBlock(script: LedgerScript, at: number, ...all: readonly Partial<TransactionOptions>[]): void {
    script.created(at);
    script.frozen(at);
    script.block(block(at, all.map(executed)));
    script.confirmed(at);
  }

  it('are emitted with their members in the order of Agave', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(blocks('confirmed', { rewards: true }));
    emitBlock(script, 2, { n: 1 });
    const { blockhash, previousBlockhash } = block(2, []);
    expect(recorder.texts).toEqual([
      `{"context":{"slot":2},"value":{"slot":2,"block":{"previousBlockhash":"${previousBlockhash}",` +
        `"blockhash":"${blockhash}","parentSlot":1,"signatures":["${signature(1)}"],"rewards":[],` +
        `"blockTime":1002,"blockHeight":2},"err":null}}`,
    ]);
  });

  it('of a mention contain only matching transactions, and are not emitted without any', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(blocks('confirmed', { mentions: key(7), maxVersion: 0 }));
    emitBlock(script, 2, { n: 1, keys: [1, 7] }, { n: 2 }, loading(3, 7));
    emitBlock(script, 3, { n: 4 });
    expect(recorder.slots).toEqual([2]);
    expect(recorder.values).toMatchObject([{ block: { signatures: [signature(1), signature(3)] } }]);
  });

  it('are reported as an error when the client does not support a transaction', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(blocks('confirmed', { details: 'full' }));
    emitBlock(script, 2, { n: 1, version: 0 });
    expect(recorder.texts).toEqual([
      '{"context":{"slot":2},"value":{"slot":2,"block":null,"err":{"UnsupportedTransactionVersion":0}}}',
    ]);
  });

  it('are reported as an error when unavailable', () => {
    const { subscribe, script } = stage();
    const recorder = subscribe(blocks('confirmed'));
    script.created(2);
    script.frozen(2);
    script.confirmed(2);
    expect(recorder.texts).toEqual([
      '{"context":{"slot":2},"value":{"slot":2,"block":null,"err":"BlockStoreError"}}',
    ]);
  });
});
