import { closeSync, fstatSync, openSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { ByteReader, ByteWriter } from '../../../../src/base/bytes.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import type { Address } from '../../../../src/solana/address.ts';
import { readAccount, writeAccount } from './account-codec.ts';
import { encodeFrame, FRAME_HEADER_BYTES, readFrame, syncDirectory } from './segment-log.ts';

/** Account bytes per frame; the last account may exceed it. */
const CHUNK_BYTES = 1024 * 1024;
const SNAPSHOTS_MAX = 2;

const fileName = (slot: number): string => `snapshot-${String(slot).padStart(12, '0')}.bin`;

export class CorruptSnapshot extends Error {
  override readonly name = 'CorruptSnapshot';
}

/** Newest first. */
export function snapshotSlots(dir: string): number[] {
  return readdirSync(dir)
    .flatMap((name) => /^snapshot-(\d{12})\.bin$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
}

/**
 * Writes a snapshot atomically:
 *
 * frame of accounts | … | frame: count of all accounts u64
 * Yields between chunks.
 */
export async function writeSnapshot(
  dir: string,
  slot: number,
  accounts: Iterable<readonly [Address, Account]>,
): Promise<void> {
  const path = join(dir, fileName(slot));
  const temporary = `${path}.tmp`;
  const file = await open(temporary, 'w');
  try {
    await writeAccounts(file, accounts);
    await file.sync();
  } finally {
    await file.close();
  }
  renameSync(temporary, path);
  syncDirectory(dir);
}

async function writeAccounts(
  file: FileHandle,
  accounts: Iterable<readonly [Address, Account]>,
): Promise<void> {
  let count = 0n;
  let writer = new ByteWriter(CHUNK_BYTES + 4096);
  for (const [address, account] of accounts) {
    writeAccount(writer, address, account);
    count++;
    if (writer.length < CHUNK_BYTES) continue;
    await file.writeFile(encodeFrame(writer.finish()));
    writer = new ByteWriter(CHUNK_BYTES + 4096);
  }
  await file.writeFile(encodeFrame(writer.finish()));
  await file.writeFile(encodeFrame(new ByteWriter(8).u64(count).finish()));
}

/**
 * Passes every account to `take`.
 * @throws CorruptSnapshot if incomplete; some accounts may have been passed before.
 */
export function readSnapshot(
  dir: string,
  slot: number,
  take: (address: Address, account: Account) => void,
): void {
  let count = 0n;
  let isComplete = false;
  for (const payload of framesOf(join(dir, fileName(slot)))) {
    const reader = new ByteReader(payload);
    if (payload.length === 8) {
      isComplete = reader.u64() === count;
      continue;
    }
    while (reader.remaining > 0) {
      const [address, account] = readAccount(reader);
      if (account !== null) take(address, account);
      count++;
    }
  }
  if (!isComplete) throw new CorruptSnapshot(`${fileName(slot)} is incomplete`);
}

/** Reads one frame at a time, because a buffer cannot hold files above 2 GiB. */
function* framesOf(path: string): IterableIterator<Uint8Array> {
  const fd = openSync(path, 'r');
  try {
    const { size } = fstatSync(fd);
    let offset = 0;
    while (offset < size) {
      const payload = readFrame(fd, offset, size);
      if (payload === null) throw new CorruptSnapshot(`${path} is corrupt at byte ${offset}`);
      yield payload;
      offset += FRAME_HEADER_BYTES + payload.length;
    }
  } finally {
    closeSync(fd);
  }
}

/** Also removes unfinished files. @returns the slot of the oldest remaining snapshot. */
export function removeOldSnapshots(dir: string): number {
  for (const name of readdirSync(dir)) {
    if (/^snapshot-\d{12}\.bin\.tmp$/.test(name)) rmSync(join(dir, name), { force: true });
  }
  const slots = snapshotSlots(dir);
  for (const slot of slots.slice(SNAPSHOTS_MAX)) rmSync(join(dir, fileName(slot)), { force: true });
  return slots.slice(0, SNAPSHOTS_MAX).at(-1) ?? 0;
}
