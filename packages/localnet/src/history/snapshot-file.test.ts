import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { account } from '../../../../test/streams/ledger-script.ts';
import { CorruptSnapshot, readSnapshot, writeSnapshot } from './snapshot-file.ts';

let dir: string;
beforeEach(() => {
  dir = temporaryFolder('snapshot');
});

const accountOf = (bytes: number): Account =>
  account({ lamports: lamports(bytes + 1), data: new Uint8Array(bytes).fill(bytes) });

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
      Object.values(programs).map((address, index) => [address, accountOf(index * 60_000)]),
    );
    await writeSnapshot(dir, 7, accounts);
    const read = new Map<Address, Account>();
    readSnapshot(dir, 7, (address, one) => read.set(address, one));
    expect(digests(read)).toEqual(digests(accounts));
  });

  it('beyond 2 GiB is read frame by frame', async () => {
    await writeSnapshot(dir, 7, new Map([[programs.system, accountOf(10)]]));
    const fd = openSync(join(dir, 'snapshot-000000000007.bin'), 'r+');
    // Sparse file with garbage after the frames.
    writeSync(fd, Buffer.of(1), 0, 1, 2 ** 31 + 10);
    closeSync(fd);
    const taken: Address[] = [];
    expect(() => readSnapshot(dir, 7, (address) => taken.push(address))).toThrow(CorruptSnapshot);
    expect(taken).toEqual([programs.system]);
  });
});
