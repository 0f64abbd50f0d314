import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import { addressBytes, addressFromBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { WireLookup } from '../../solana/transaction/wire-transaction.ts';
import { lamports, slot, U64_MAX } from '../../solana/units.ts';
import { LookupTables, lookupTableRequest } from './lookup-tables.ts';
import { shredLimits } from './shreds-config.ts';

const log = createLogger('silent', () => {});
const NONE = new Uint8Array();
const key = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);
const owner = addressBytes(programs.addressLookupTable);

type TableState = Readonly<{
  count: number;
  deactivationSlot?: bigint;
  lastExtendedSlot?: bigint;
  startIndex?: number;
}>;

/** The account of a table whose nth address has the byte n everywhere. Source of the layout: `LookupTableMeta`. */
function tableData({
  count,
  deactivationSlot = U64_MAX,
  lastExtendedSlot = 10n,
  startIndex = 0,
}: TableState) {
  const data = Buffer.alloc(56 + 32 * count);
  data.writeUInt32LE(1, 0);
  data.writeBigUInt64LE(deactivationSlot, 4);
  data.writeBigUInt64LE(lastExtendedSlot, 12);
  data.writeUInt8(startIndex, 20);
  for (let index = 0; index < count; index++) data.fill(index, 56 + 32 * index, 88 + 32 * index);
  return data;
}

const written = (address: Uint8Array, state: TableState, at: bigint, writeVersion = 1n): RawAccount => ({
  ...{ kind: 'account', slot: slot(at), tail: NONE, createdAt: NONE, info: NONE, address, owner },
  ...{ lamports: lamports(1), data: tableData(state), writeVersion, signature: null, isStartup: false },
});

const lookup = (accountKey: Uint8Array, writable: number[], readonly: number[] = []): WireLookup => ({
  accountKey,
  writableIndexes: Uint8Array.from(writable),
  readonlyIndexes: Uint8Array.from(readonly),
});

type Question = {
  addresses: string[];
  answer: (accounts: (Buffer | null)[], at?: number) => void;
  fail: () => void;
};

/** Tables over a pool that answers when the test says so. */
function scene(limits: Partial<typeof shredLimits> = {}) {
  const questions: Question[] = [];
  let heard: (() => void) | null = null;
  const ask = (_method: string, params: unknown): Promise<Buffer> =>
    new Promise((resolve, reject) => {
      const [addresses] = params as [string[]];
      const answer = (accounts: (Buffer | null)[], at = 100): void => {
        const value = accounts.map((data) =>
          data === null
            ? null
            : {
                ...{ data: [data.toString('base64'), 'base64'], executable: false, lamports: 1 },
                owner: programs.addressLookupTable,
              },
        );
        resolve(Buffer.from(JSON.stringify({ context: { slot: at }, value })));
      };
      questions.push({ addresses, answer, fail: () => reject(new Error('nobody answers')) });
      heard?.();
    });
  const tables = new LookupTables({
    reader: { request: ask },
    limits: { ...shredLimits, tablesGatherMs: 0, ...limits },
    log,
  });
  onTestFinished(() => tables.close());
  const asked = async (count: number): Promise<Question> => {
    while (questions.length < count) await new Promise<void>((resolve) => (heard = resolve));
    return questions[count - 1]!;
  };
  /** Lets answers arrive. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { tables, questions, asked, settled };
}

describe('lookup tables', () => {
  it('give the addresses of a table that was told, writable ones apart', () => {
    const { tables } = scene();
    tables.onAccount(written(key(7), { count: 5 }, 20n));
    const loaded = tables.resolve([lookup(key(7), [4, 0], [2])], slot(21));
    expect(loaded).toEqual({ writable: [key(4), key(0)], readonly: [key(2)] });
    expect(tables.unresolved).toBe(0);
  });

  it('put the addresses of several tables one after the other', () => {
    const { tables } = scene();
    tables.onAccount(written(key(7), { count: 5 }, 20n));
    tables.onAccount(written(key(8), { count: 9 }, 20n));
    const loaded = tables.resolve([lookup(key(8), [8], [7]), lookup(key(7), [1], [0])], slot(21));
    expect(loaded?.writable.map(([first]) => first)).toEqual([8, 1]);
    expect(loaded?.readonly.map(([first]) => first)).toEqual([7, 0]);
  });

  it('give nothing rather than a part, and ask for every table that is missing', async () => {
    const { tables, asked } = scene();
    tables.onAccount(written(key(7), { count: 5 }, 20n));
    const lookups = [lookup(key(1), [0]), lookup(key(7), [1]), lookup(key(2), [0])];
    expect(tables.resolve(lookups, slot(21))).toBeNull();
    expect(tables.unresolved).toBe(1);
    const { addresses } = await asked(1);
    expect(addresses).toEqual([addressFromBytes(key(1)), addressFromBytes(key(2))]);
  });

  it('know a table that was asked for the next time', async () => {
    const { tables, asked, settled } = scene();
    expect(tables.resolve([lookup(key(1), [3])], slot(21))).toBeNull();
    (await asked(1)).answer([tableData({ count: 4 })]);
    await settled();
    expect(tables.resolve([lookup(key(1), [3])], slot(21))?.writable).toEqual([key(3)]);
  });

  it('ask for a table once, however many transactions name it', async () => {
    const { tables, questions, asked, settled } = scene();
    for (let i = 0; i < 50; i++) tables.resolve([lookup(key(1), [0])], slot(21));
    const question = await asked(1);
    for (let i = 0; i < 50; i++) tables.resolve([lookup(key(1), [0])], slot(21));
    question.answer([null]);
    await settled();
    // It is not there: that stays so for a while.
    for (let i = 0; i < 50; i++) tables.resolve([lookup(key(1), [0])], slot(21));
    await settled();
    expect(question.addresses).toHaveLength(1);
    expect(questions).toHaveLength(1);
  });

  it('ask for a hundred at a time, and for no more at once than allowed', async () => {
    const { tables, questions, asked, settled } = scene({ tableReadsMax: 2 });
    for (let i = 0; i < 250; i++) {
      const address = key(1);
      address.set([i & 0xff, i >> 8]);
      tables.resolve([lookup(address, [0])], slot(21));
    }
    await asked(2);
    await settled();
    expect(questions.map(({ addresses }) => addresses.length)).toEqual([100, 100]);
    questions[0]!.answer(Array(100).fill(null));
    expect((await asked(3)).addresses).toHaveLength(50);
  });

  it('ask again, after a while, for what nobody answered', async () => {
    const { tables, asked, settled } = scene({ tableAbsentMs: 0 });
    tables.resolve([lookup(key(1), [0])], slot(21));
    (await asked(1)).fail();
    await settled();
    tables.resolve([lookup(key(1), [0])], slot(21));
    expect((await asked(2)).addresses).toEqual([addressFromBytes(key(1))]);
  });

  it('wait with no more unknown tables than allowed', async () => {
    const { tables, asked } = scene({ tablesWaitingMax: 3 });
    for (let i = 0; i < 9; i++) tables.resolve([lookup(key(i), [0])], slot(21));
    expect((await asked(1)).addresses).toHaveLength(3);
  });

  it('hold no more tables than allowed, and forget what was used longest ago', () => {
    const { tables } = scene({ tablesMax: 2 });
    tables.onAccount(written(key(1), { count: 1 }, 20n));
    tables.onAccount(written(key(2), { count: 1 }, 20n));
    tables.resolve([lookup(key(1), [0])], slot(21));
    tables.onAccount(written(key(3), { count: 1 }, 20n));
    expect(tables.size).toBe(2);
    expect(tables.resolve([lookup(key(1), [0])], slot(21))).not.toBeNull();
    expect(tables.resolve([lookup(key(2), [0])], slot(21))).toBeNull();
  });

  it('keep what a slot added from transactions of that slot', () => {
    const { tables } = scene();
    tables.onAccount(written(key(7), { count: 5, lastExtendedSlot: 20n, startIndex: 3 }, 20n));
    expect(tables.resolve([lookup(key(7), [3])], slot(20))).toBeNull();
    expect(tables.resolve([lookup(key(7), [2])], slot(20))?.writable).toEqual([key(2)]);
    expect(tables.resolve([lookup(key(7), [3])], slot(21))?.writable).toEqual([key(3)]);
  });

  it('go on with a deactivated table for 512 slots', () => {
    const { tables } = scene();
    tables.onAccount(written(key(7), { count: 5, deactivationSlot: 100n }, 100n));
    expect(tables.resolve([lookup(key(7), [0])], slot(612))).not.toBeNull();
    expect(tables.resolve([lookup(key(7), [0])], slot(613))).toBeNull();
  });

  it('ask again for a table that must have grown', async () => {
    const { tables, asked, settled } = scene();
    tables.onAccount(written(key(7), { count: 2 }, 20n));
    expect(tables.resolve([lookup(key(7), [2])], slot(30))).toBeNull();
    (await asked(1)).answer([tableData({ count: 3, lastExtendedSlot: 25n })], 29);
    await settled();
    expect(tables.resolve([lookup(key(7), [2])], slot(30))?.writable).toEqual([key(2)]);
  });

  it('never go back to an older state', async () => {
    const { tables, asked, settled } = scene();
    tables.resolve([lookup(key(7), [0])], slot(30));
    const question = await asked(1);
    tables.onAccount(written(key(7), { count: 5 }, 40n, 9n));
    tables.onAccount(written(key(7), { count: 4 }, 40n, 8n));
    tables.onAccount(written(key(7), { count: 3 }, 39n, 99n));
    question.answer([tableData({ count: 2 })], 38);
    await settled();
    expect(tables.resolve([lookup(key(7), [4])], slot(41))?.writable).toEqual([key(4)]);
  });

  it('hear nothing of accounts that are no tables', () => {
    const { tables } = scene();
    tables.onAccount({ ...written(key(7), { count: 5 }, 20n), owner: key(1) });
    tables.onAccount({ ...written(key(8), { count: 5 }, 20n), data: new Uint8Array(56) });
    expect(tables.size).toBe(0);
  });

  it('are written by the program that the request names', () => {
    const [filter] = [...(lookupTableRequest.accounts?.values() ?? [])];
    expect(filter?.owner).toEqual([programs.addressLookupTable]);
  });
});
