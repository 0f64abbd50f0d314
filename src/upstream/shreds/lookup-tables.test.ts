import { describe, expect, it, onTestFinished } from 'vitest';
import { createLogger } from '../../base/log.ts';
import type { RawAccount } from '../../protocol/geyser/raw-update.ts';
import { addressBytes, addressFromBytes } from '../../solana/address.ts';
import { programs } from '../../solana/programs.ts';
import type { WireLookup } from '../../solana/transaction/wire-transaction.ts';
import { lamports, slot, U64_MAX } from '../../solana/units.ts';
import { LookupTables } from './lookup-tables.ts';
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

/** A table whose nth address consists of the byte n. Source of the layout: `LookupTableMeta`. */
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

type TableRequest = {
  addresses: string[];
  answer: (accounts: (Buffer | null)[], at?: number) => void;
  fail: () => void;
};

function setUp(limits: Partial<typeof shredLimits> = {}) {
  const tableRequests: TableRequest[] = [];
  let onRequest: (() => void) | null = null;
  const request = (_method: string, params: unknown): Promise<Buffer> =>
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
      tableRequests.push({ addresses, answer, fail: () => reject(new Error('no response')) });
      onRequest?.();
    });
  const tables = new LookupTables({
    reader: { request: request },
    limits: { ...shredLimits, tablesGatherMs: 0, ...limits },
    log,
  });
  onTestFinished(() => tables.close());
  const nextRequests = async (count: number): Promise<TableRequest> => {
    while (tableRequests.length < count) await new Promise<void>((resolve) => (onRequest = resolve));
    return tableRequests[count - 1]!;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { tables, tableRequests, nextRequests, settled };
}

describe('LookupTables', () => {
  it('resolves writable and readonly addresses of a known table', () => {
    const { tables } = setUp();
    tables.onAccount(written(key(7), { count: 5 }, 20n));
    const loaded = tables.resolve([lookup(key(7), [4, 0], [2])], slot(21));
    expect(loaded).toEqual({ writable: [key(4), key(0)], readonly: [key(2)] });
    expect(tables.unresolved).toBe(0);
  });

  it('resolves all or nothing and requests every unknown table', async () => {
    const { tables, nextRequests, settled } = setUp();
    tables.onAccount(written(key(7), { count: 5 }, 20n));
    const lookups = [lookup(key(1), [0]), lookup(key(7), [1]), lookup(key(2), [0])];
    expect(tables.resolve(lookups, slot(21))).toBeNull();
    expect(tables.unresolved).toBe(1);
    const { addresses, answer } = await nextRequests(1);
    expect(addresses).toEqual([addressFromBytes(key(1)), addressFromBytes(key(2))]);
    // A node of a local chain may still be at the genesis slot.
    answer([tableData({ count: 1 }), tableData({ count: 1 })], 0);
    await settled();
    expect(tables.resolve(lookups, slot(21))?.writable).toEqual([key(0), key(1), key(0)]);
  });

  it('requests 100 tables at a time with limited concurrency', async () => {
    const { tables, tableRequests, nextRequests, settled } = setUp({ tableReadsMax: 2 });
    for (let i = 0; i < 250; i++) {
      const address = key(1);
      address.set([i & 0xff, i >> 8]);
      tables.resolve([lookup(address, [0])], slot(21));
    }
    await nextRequests(2);
    await settled();
    expect(tableRequests.map(({ addresses }) => addresses.length)).toEqual([100, 100]);
    tableRequests[0]!.answer(Array(100).fill(null));
    expect((await nextRequests(3)).addresses).toHaveLength(50);
  });

  it('hides addresses from the slot that added them', () => {
    const { tables } = setUp();
    tables.onAccount(written(key(7), { count: 5, lastExtendedSlot: 20n, startIndex: 3 }, 20n));
    expect(tables.resolve([lookup(key(7), [3])], slot(20))).toBeNull();
    expect(tables.resolve([lookup(key(7), [2])], slot(20))?.writable).toEqual([key(2)]);
    expect(tables.resolve([lookup(key(7), [3])], slot(21))?.writable).toEqual([key(3)]);
  });

  it('resolves a deactivated table for 512 slots', () => {
    const { tables } = setUp();
    tables.onAccount(written(key(7), { count: 5, deactivationSlot: 100n }, 100n));
    expect(tables.resolve([lookup(key(7), [0])], slot(612))).not.toBeNull();
    expect(tables.resolve([lookup(key(7), [0])], slot(613))).toBeNull();
  });

  it('requests a table again if it must have been extended', async () => {
    const { tables, nextRequests, settled } = setUp();
    tables.onAccount(written(key(7), { count: 2 }, 20n));
    expect(tables.resolve([lookup(key(7), [2])], slot(30))).toBeNull();
    (await nextRequests(1)).answer([tableData({ count: 3, lastExtendedSlot: 25n })], 29);
    await settled();
    expect(tables.resolve([lookup(key(7), [2])], slot(30))?.writable).toEqual([key(2)]);
  });

  it('ignores older states', async () => {
    const { tables, nextRequests, settled } = setUp();
    tables.resolve([lookup(key(7), [0])], slot(30));
    const tableRequest = await nextRequests(1);
    tables.onAccount(written(key(7), { count: 5 }, 40n, 9n));
    tables.onAccount(written(key(7), { count: 4 }, 40n, 8n));
    tables.onAccount(written(key(7), { count: 3 }, 39n, 99n));
    tableRequest.answer([tableData({ count: 2 })], 38);
    await settled();
    expect(tables.resolve([lookup(key(7), [4])], slot(41))?.writable).toEqual([key(4)]);
  });
});
