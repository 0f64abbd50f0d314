import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAccountDir } from '../../packages/localnet/src/genesis/account-file.ts';
import { readGenesis, readKey } from '../../packages/localnet/src/genesis/ledger-dir.ts';
import { lockLedger } from '../../packages/localnet/src/genesis/ledger-lock.ts';
import { writeAccount } from '../../packages/localnet/src/history/account-codec.ts';
import { CorruptLog, framed, SegmentLog } from '../../packages/localnet/src/history/segment-log.ts';
import { CorruptSnapshot, readSnapshot } from '../../packages/localnet/src/history/snapshot-file.ts';
import { ByteWriter, OutOfBytes } from '../../src/base/bytes.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import { lamports } from '../../src/solana/units.ts';
import { accepted } from './engine/accepted.ts';
import { scratchFolder } from './engine/scratch.ts';

export const from = 'the disk';
export const covers = [
  'solana/ed25519.ts',
  'localnet/history/account-codec.ts',
  'localnet/genesis/account-file.ts',
  'localnet/history/segment-log.ts',
  'localnet/genesis/ledger-dir.ts',
  'localnet/genesis/ledger-lock.ts',
  'localnet/history/snapshot-file.ts',
];

const keypair = Keypair.fromSeed(new Uint8Array(32).fill(7));
const KEY = keypair.address;
const account = {
  lamports: lamports(5),
  data: Uint8Array.of(1, 2),
  owner: KEY,
  executable: false,
  rentEpoch: 0n,
};

const accounts = new ByteWriter();
writeAccount(accounts, KEY, account);
writeAccount(accounts, KEY, null);
const payload = accounts.finish();
const end = new ByteWriter(8).u64(2n).finish();

const genesis = {
  ...{ format: 1, hash: KEY, identity: KEY, voteAccount: KEY, stakeAccount: KEY, faucet: KEY },
  ...{ creationTime: 1_700_000_000, slotsPerEpoch: 432_000, ticksPerSlot: 64 },
};
const shown = { lamports: 5, data: ['AQI=', 'base64'], owner: KEY, executable: false, rentEpoch: 0 };

/** Files as they are; or, behind the byte 0xff, what is put into a frame before the end of a snapshot. */
export const seeds: readonly Uint8Array[] = [
  Buffer.concat([framed(payload), framed(end)]),
  Buffer.concat([framed(payload), framed(payload).subarray(0, 30)]),
  Buffer.of(0xff, ...payload),
  ...[
    JSON.stringify(genesis),
    keypair.toJson(),
    JSON.stringify({ pubkey: KEY, account: shown }),
    JSON.stringify({ pubkey: KEY, account: { ...shown, data: ['3Bxs', 'base58'] } }),
    '{"pid":1,"started":"5","boot":"x","parent":{"pid":2,"started":"6"}}',
  ].map((text) => Buffer.from(text)),
];

const folder = scratchFolder('ledger-files');
const files = [
  'snapshot-000000000005.bin',
  'genesis.json',
  'faucet-keypair.json',
  'accounts/a.json',
  'ledger.lock',
  'log/000000000001.log',
];
for (const name of ['accounts', 'log']) scratchFolder(`ledger-files/${name}`);

function records(): number {
  const log = new SegmentLog(join(folder, 'log'), () => {});
  return [...log.scan(1)].length;
}

/** Every file of a ledger is read, or said not to be whole. */
export function fuzz(bytes: Uint8Array): boolean {
  const file = bytes[0] === 0xff ? Buffer.concat([framed(bytes.subarray(1)), framed(end)]) : bytes;
  for (const name of files) writeFileSync(join(folder, name), file);
  const read = [
    // What restores a ledger tries the snapshot before, whatever is wrong with this one.
    accepted(() => readSnapshot(folder, 5, () => {}), CorruptSnapshot, OutOfBytes),
    accepted(() => {
      if (records() === 0) throw new CorruptLog('nothing in it');
      // What was cut off stays cut off.
      records();
    }, CorruptLog),
    ...[
      () => readGenesis(folder, 400),
      () => readKey(folder, 'faucet'),
      () => readAccountDir(join(folder, 'accounts')),
    ].map((readOne) => isReported(readOne)),
    accepted(() => lockLedger(folder).release()),
  ];
  rmSync(join(folder, 'ledger.lock'), { force: true });
  return read.slice(0, -1).includes(true);
}

/** Whether it was read; an error for people names the file and is no fault of the program. */
function isReported(read: () => unknown): boolean {
  try {
    read();
    return true;
  } catch (error) {
    const isPlain = error instanceof Error && error.name === 'Error' && error.message.includes(folder);
    if (isPlain) return false;
    throw error;
  }
}
