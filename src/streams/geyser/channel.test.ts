import { describe, expect, it } from 'vitest';
import { key } from '../../../test/streams/ledger-script.ts';
import {
  accountUpdate,
  blockMetaUpdate,
  blockUpdate,
  entryUpdate,
  RecordingSink,
  slotUpdate,
  transactionUpdate,
} from '../../../test/streams/random-updates.ts';
import { CuckooFilter } from '../../protocol/geyser/cuckoo-filter.ts';
import { blockTail } from '../../protocol/geyser/encode/block.ts';
import { slicedAccountTail } from '../../protocol/geyser/encode/raw-account.ts';
import { transactionStatusTail } from '../../protocol/geyser/encode/raw-transaction.ts';
import type { CuckooFilterMessage, SubscribeRequest } from '../../protocol/geyser/subscribe-request.ts';
import { BlockScheduler } from './channel/block-scheduler.ts';
import { Channel } from './channel.ts';
import { compileFilters } from './filters/compile.ts';

/** A cuckoo filter with a single bucket, which is both the first and the second of every address. */
function cuckooOf(...numbers: readonly number[]): CuckooFilterMessage {
  const empty = { data: new Uint8Array(8), bucketCount: 1, entriesPerBucket: 4, fingerprintBits: 16 };
  const message = { ...empty, hashSeed: 5n, hashAlgorithm: 0 };
  const filter = new CuckooFilter(message);
  const fingerprints = numbers.map((n) => filter.locate(new Uint8Array(32).fill(n), 0).fingerprint);
  return { ...message, data: new Uint8Array(Uint16Array.of(...fingerprints, 0, 0, 0, 0).buffer.slice(0, 8)) };
}

function stage(...requests: readonly SubscribeRequest[]) {
  const channel = new Channel(new BlockScheduler({ blocksTimeSliceMs: 60_000 }));
  const streams = requests.map(() => new RecordingSink());
  const members = requests.map((request, i) => {
    const member = channel.add(streams[i] as RecordingSink);
    member.replace(compileFilters(request));
    return member;
  });
  return { channel, streams, members };
}

const named = <Filter>(filters: Readonly<Record<string, Filter>>) => new Map(Object.entries(filters));

describe('a stream receives', () => {
  it('a transaction, then its status, each with its names', () => {
    const transactions = named({ t: { accountInclude: [key(1)] }, u: {}, no: { vote: true } });
    const { channel, streams } = stage({ transactions, transactionsStatus: named({ s: { failed: false } }) });
    const transaction = transactionUpdate({ keys: [1] });
    channel.emit(transaction);
    const tails = streams[0]?.messages.map(({ tail }) => tail);
    expect(tails).toEqual([transaction.tail, transactionStatusTail(transaction)]);
    expect(streams[0]?.take()).toEqual([['t', 'u'], ['s']]);
  });

  it('slots, entries and block metas with all names', () => {
    const { channel, streams } = stage({
      slots: named({ s: {}, c: { filterByCommitment: true }, i: { interslotUpdates: true } }),
      entry: ['e', 'f'],
      blocksMeta: ['m', 'n'],
    });
    for (const status of ['createdBank', 'processed', 'confirmed'] as const) channel.emit(slotUpdate(status));
    channel.emit(entryUpdate());
    channel.emit(blockMetaUpdate());
    expect(streams[0]?.take()).toEqual([['i'], ['s', 'c', 'i'], ['s', 'i'], ['e', 'f'], ['m', 'n']]);
  });

  it('nothing after it was closed, even while an update is emitted to others', () => {
    const { channel, streams, members } = stage(
      { accounts: named({ a: {} }) },
      { accounts: named({ b: {} }) },
    );
    const [first, second] = streams as [RecordingSink, RecordingSink];
    const leaveBoth = () => {
      for (const member of members) member.close();
    };
    for (const stream of [first, second]) {
      const push = stream.push.bind(stream);
      stream.push = (names, tail) => {
        push(names, tail);
        leaveBoth();
      };
    }
    channel.emit(accountUpdate());
    channel.emit(accountUpdate());
    members[0]?.replace(compileFilters({ entry: ['e'] }));
    channel.emit(entryUpdate());
    expect([...first.take(), ...second.take()]).toHaveLength(1);
    expect(channel.size).toBe(0);
  });
});

describe('a block', () => {
  const transactions = [transactionUpdate({ keys: [1, 2] }), transactionUpdate({ keys: [3] })];
  const accounts = [accountUpdate({ address: 1, data: new Uint8Array(9) }), accountUpdate({ address: 3 })];
  const entries = [entryUpdate()];
  const block = blockUpdate({ transactions, accounts, entries });

  it('is emitted once for each filter, with its transactions unless excluded', () => {
    const { channel, streams } = stage({ blocks: named({ a: {}, b: { includeTransactions: false } }) });
    channel.emit(block);
    const tails = streams[0]?.messages.map(({ tail }) => tail);
    const none = { transactions: [], accounts: [], entries: [], slices: null };
    expect(tails).toEqual([blockTail(block, { ...none, transactions }), blockTail(block, none)]);
    expect(streams[0]?.take()).toEqual([['a'], ['b']]);
  });

  it('is reduced to the matching transactions and accounts, with the requested data slices', () => {
    const accountsDataSlice = [{ offset: 2n, length: 3n }];
    const blocks = named({
      a: { accountInclude: [key(1)], includeAccounts: true, includeEntries: true },
      b: { accountInclude: [key(9)], includeAccounts: true },
    });
    const { channel, streams } = stage({ blocks, accountsDataSlice });
    channel.emit(block);
    const some = { transactions: transactions.slice(0, 1), accounts: accounts.slice(0, 1), entries };
    const none = { transactions: [], accounts: [], entries: [] };
    expect(streams[0]?.messages.map(({ tail }) => tail)).toEqual([
      blockTail(block, { ...some, slices: accountsDataSlice }),
      blockTail(block, { ...none, slices: accountsDataSlice }),
    ]);
  });
});

describe('streams share', () => {
  const bytesOf = (streams: readonly RecordingSink[]) => streams.map(({ messages }) => messages[0]);

  it('an account with equal data slices only', () => {
    const accounts = named({ a: {} });
    const slice = { offset: 1n, length: 2n };
    const other = { offset: 1n, length: 3n };
    const { channel, streams } = stage(
      ...[[slice], [{ ...slice }], [other]].map((accountsDataSlice) => ({ accounts, accountsDataSlice })),
      { accounts },
    );
    for (const data of [Uint8Array.of(1, 2, 3, 4), Uint8Array.of(5, 6, 7, 8)]) {
      const account = accountUpdate({ data });
      channel.emit(account);
      const [first, second, third, whole] = streams.map(({ messages }) => messages.at(-1)?.tail);
      expect(first).toEqual(slicedAccountTail(account, [slice]));
      expect(second).toBe(first);
      expect(third).toEqual(slicedAccountTail(account, [other]));
      expect(whole).toBe(account.tail);
    }
  });

  it('a block with equal selections', () => {
    const choice = { accountInclude: [key(1), key(2)] };
    const again = { accountInclude: [key(2), key(1), key(1)], includeTransactions: true };
    const { channel, streams } = stage(
      { blocks: named({ a: choice }) },
      { blocks: named({ b: again }) },
      { blocks: named({ c: { accountInclude: [key(1)] } }) },
    );
    channel.emit(blockUpdate({ transactions: [transactionUpdate({ keys: [1] })] }));
    const [first, second, third] = bytesOf(streams);
    expect(second?.tail).toBe(first?.tail);
    expect(third?.tail).not.toBe(first?.tail);
  });
});

describe('a cuckoo filter', () => {
  const cuckoo = cuckooOf(1, 2);

  it('matches an update as an alternative to accountInclude', () => {
    const transactions = named({
      c: { cuckooAccountInclude: cuckoo },
      d: { accountInclude: [key(3)], cuckooAccountInclude: cuckoo },
      e: { accountRequired: [key(3)], cuckooAccountInclude: cuckoo },
      f: { tokenAccounts: 'all' as const, cuckooAccountInclude: cuckoo },
    });
    const { channel, streams } = stage({ transactions });
    for (const keys of [[9, 2], [3], [9], [2, 3]]) channel.emit(transactionUpdate({ keys }));
    channel.emit(transactionUpdate({ keys: [9], after: [{ at: 1, owner: 1, amount: '1' }] }));
    expect(streams[0]?.take()).toEqual([['c', 'd', 'f'], ['d'], ['c', 'd', 'e', 'f'], ['f']]);
  });

  it('filters the transactions of blocks', () => {
    const { channel, streams } = stage({ blocks: named({ b: { cuckooAccountInclude: cuckoo } }) });
    const transactions = [transactionUpdate({ keys: [9] }), transactionUpdate({ keys: [2] })];
    const block = blockUpdate({ transactions });
    channel.emit(block);
    const chosen = { transactions: transactions.slice(1), accounts: [], entries: [], slices: null };
    expect(streams[0]?.messages[0]?.tail).toEqual(blockTail(block, chosen));
  });

  it('is rejected with invalid parameters', () => {
    const accounts = named({ c: { cuckooAccounts: { ...cuckoo, bucketCount: 3 } } });
    expect(() => compileFilters({ accounts })).toThrow(/^failed to create filter: cuckoo bucketCount/);
  });
});
