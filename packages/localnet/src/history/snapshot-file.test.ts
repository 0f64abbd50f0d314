import { createHash } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../../../src/solana/units.ts';
import { CorruptSnapshot, readSnapshot, writeSnapshot } from './snapshot-file.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'solway-snapshot-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const account = (bytes: number): Account => ({
  lamports: lamports(bytes + 1),
  data: new Uint8Array(bytes).fill(bytes),
  owner: programs.system,
  executable: false,
  rentEpoch: U64_MAX,
});

/** Digests instead of data, since comparing large arrays is slow. */
const digests = (accounts: ReadonlyMap<Address, Account>) =>
  [...accounts].map(([address, { data, ...rest }]) => ({
    address,
    ...rest,
    bytes: data.length,
    digest: createHash('sha256').update(data).digest('hex'),
  }));

describe('snapshot', () => {
  it('restores every account across frames', async () => {
    const accounts = new Map<Address, Account>(
      Object.values(programs).map((address, index) => [address, account(index * 60_000)]),
    );
    await writeSnapshot(dir, 7, accounts);
    const read = new Map<Address, Account>();
    readSnapshot(dir, 7, (address, one) => read.set(address, one));
    expect(digests(read)).toEqual(digests(accounts));
  });

  it('beyond 2 GiB is read frame by frame', async () => {
    await writeSnapshot(dir, 7, new Map([[programs.system, account(10)]]));
    const fd = openSync(join(dir, 'snapshot-000000000007.bin'), 'r+');
    // Sparse file with garbage after the frames.
    writeSync(fd, Buffer.of(1), 0, 1, 2 ** 31 + 10);
    closeSync(fd);
    const taken: Address[] = [];
    expect(() => readSnapshot(dir, 7, (address) => taken.push(address))).toThrow(CorruptSnapshot);
    expect(taken).toEqual([programs.system]);
  });
});
