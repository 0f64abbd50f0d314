import { CompressedAccountFilterSet } from '@triton-one/yellowstone-grpc';
import { describe, expect, it } from 'vitest';
import { blockTail } from '../../src/protocol/geyser/encode/block.ts';
import type {
  BlocksFilter,
  CuckooFilterMessage,
  DataSlice,
} from '../../src/protocol/geyser/subscribe-request.ts';
import { Channel } from '../../src/streams/geyser/channel.ts';
import { compileFilters } from '../../src/streams/geyser/filters/compile.ts';
import { key } from './ledger-script.ts';
import { accountUpdate, blockUpdate, RecordingSink, transactionUpdate } from './random-updates.ts';

/** Streams that chose the same of a block share its bytes: those that chose something else must not. */

/** A set of the published client's. */
function cuckooOf(...numbers: readonly number[]): CuckooFilterMessage {
  const set = new CompressedAccountFilterSet(8);
  for (const n of numbers) set.insert(key(n));
  const { data, bucketCount, entriesPerBucket, fingerprintBits, hashSeed, hashAlgorithm } = set.toProto();
  const numbersOf = { bucketCount: Number(bucketCount), entriesPerBucket, fingerprintBits };
  return { ...numbersOf, data, hashSeed: BigInt(hashSeed), hashAlgorithm };
}

/** What each stream is told of a block. */
async function told(
  block: ReturnType<typeof blockUpdate>,
  ...requests: readonly Readonly<{ filter: BlocksFilter; slices?: readonly DataSlice[] }>[]
): Promise<Uint8Array[]> {
  const channel = new Channel();
  const streams = requests.map(({ filter, slices }) => {
    const stream = new RecordingSink();
    const request = { blocks: new Map([['b', filter]]), ...(slices ? { accountsDataSlice: slices } : {}) };
    channel.add(stream).replace(compileFilters(request));
    return stream;
  });
  channel.emit(block);
  // Blocks are told in slices of time.
  await expect.poll(() => streams.every(({ messages }) => messages.length > 0), { interval: 1 }).toBe(true);
  return streams.map(({ messages }) => messages[0]!.tail);
}

const data = Uint8Array.from({ length: 40 }, (_, i) => i);
const accounts = [accountUpdate({ address: 1, data }), accountUpdate({ address: 2, data })];
const transactions = [transactionUpdate({ keys: [1] }), transactionUpdate({ keys: [2] })];
const block = blockUpdate({ accounts, transactions });

describe('a block is not shared', () => {
  it('by streams that want other parts of the data in it, or all of it', async () => {
    const filter = { includeAccounts: true };
    const [one, other] = [[{ offset: 0n, length: 4n }], [{ offset: 8n, length: 4n }]] as const;
    const requests = [
      { filter, slices: one },
      { filter, slices: other },
      { filter },
      { filter, slices: one },
    ];
    const tails = await told(block, ...requests);
    for (const [at, slices] of [one, other, null, one].entries()) {
      expect(tails[at]).toEqual(blockTail(block, { transactions, accounts, entries: [], slices }));
    }
    expect(tails[3]).toBe(tails[0]);
  });

  it('by streams whose cuckoo filters differ in what is in them', async () => {
    const [one, other] = [cuckooOf(1), cuckooOf(2)];
    expect({ ...one, data: null }).toEqual({ ...other, data: null });
    const requests = [one, other, cuckooOf(1)].map((cuckooAccountInclude) => ({
      filter: { cuckooAccountInclude, includeAccounts: true },
    }));
    const tails = await told(block, ...requests);
    for (const [at, kept] of [0, 1, 0].entries()) {
      const chosen = { transactions: [transactions[kept]!], accounts: [accounts[kept]!], entries: [] };
      expect(tails[at]).toEqual(blockTail(block, { ...chosen, slices: null }));
    }
    expect(tails[2]).toBe(tails[0]);
  });
});
