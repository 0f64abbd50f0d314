import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { makeFolder } from '../../../../src/base/make-folder.ts';
import { parseBlockhash } from '../../../../src/solana/blockhash.ts';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import { syncDirectory } from '../history/segment-log.ts';
import { epochScheduleOf } from '../history/slot-record.ts';
import type { Genesis } from '../node.ts';
import { addressText } from './account-file.ts';
import type { GenesisKeys } from './genesis.ts';

/**
 * Files of a ledger directory; keys are named as in solana-test-validator.
 *
 * genesis.json            written last; the ledger exists once this file does
 * *-keypair.json          faucet, validator, vote account, stake account
 * log/                    segments of slot records
 * snapshot-*.bin          all accounts as of a slot
 * history.db              index over the log
 * fork.db                 addresses that are not read from the forked cluster again
 * ledger.lock             process that has the ledger open
 */
const GENESIS = 'genesis.json';
const keyFiles = {
  faucet: 'faucet-keypair.json',
  identity: 'validator-keypair.json',
  vote: 'vote-account-keypair.json',
  stake: 'stake-account-keypair.json',
} as const satisfies Record<keyof GenesisKeys, string>;

export const logDir = (dir: string): string => join(dir, 'log');
export const indexPath = (dir: string): string => join(dir, 'history.db');
export const forkPath = (dir: string): string => join(dir, 'fork.db');

export const hasLedger = (dir: string): boolean => existsSync(join(dir, GENESIS));

/** Deletes ledger files only. */
export function removeLedger(dir: string): void {
  if (!existsSync(dir)) return;
  const isOurs = (name: string): boolean =>
    name === 'log' ||
    name.startsWith('history.db') ||
    name.startsWith('fork.db') ||
    /^snapshot-\d{12}\.bin(\.tmp)?$/.test(name) ||
    Object.values<string>(keyFiles).includes(name);
  rmSync(join(dir, GENESIS), { force: true });
  for (const name of readdirSync(dir).filter(isOurs)) rmSync(join(dir, name), { recursive: true });
}

/** Writes the key files durably, readable by their owner only. */
export function writeKeys(dir: string, keys: GenesisKeys): void {
  makeFolder(dir);
  for (const [name, file] of Object.entries(keyFiles)) {
    const keypair = keys[name as keyof GenesisKeys];
    writeFileSync(join(dir, file), `${keypair.toJson()}\n`, { mode: 0o600, flush: true });
  }
  syncDirectory(dir);
}

/** @throws Error if the file is missing or invalid, with how to recover. */
export function readKey(dir: string, name: keyof GenesisKeys): Keypair {
  const path = join(dir, keyFiles[name]);
  try {
    return Keypair.fromJson(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new Error(`${path} is missing or not a keypair: restore it from a backup or start with --reset`, {
      cause,
    });
  }
}

const hashText = z.string().transform((text, context) => {
  const parsed = parseBlockhash(text);
  if ('blockhash' in parsed) return parsed.blockhash;
  context.addIssue({ code: 'custom', message: 'not a hash' });
  return z.NEVER;
});

const genesisSchema = z.object({
  format: z.literal(1),
  hash: hashText,
  creationTime: z.number().int(),
  identity: addressText,
  voteAccount: addressText,
  stakeAccount: addressText,
  faucet: addressText,
  slotsPerEpoch: z.number().int().positive(),
  ticksPerSlot: z.number().int().positive(),
});

/** Completes the creation of the ledger. */
export function writeGenesis(dir: string, genesis: Genesis): void {
  const { hash, identity, voteAccount, stakeAccount, faucet, ticksPerSlot } = genesis;
  const content: z.input<typeof genesisSchema> = {
    format: 1,
    ...{ hash, identity, voteAccount, stakeAccount, faucet, ticksPerSlot },
    creationTime: Number(genesis.creationTime),
    slotsPerEpoch: Number(genesis.epochSchedule.slotsPerEpoch),
  };
  const path = join(dir, GENESIS);
  writeFileSync(`${path}.tmp`, `${JSON.stringify(content, null, 2)}\n`, { flush: true });
  renameSync(`${path}.tmp`, path);
  syncDirectory(dir);
}

/**
 * @param slotMs - slot length, which the ledger does not store.
 * @throws Error if the file is corrupt or has another version.
 */
export function readGenesis(dir: string, slotMs: number): Genesis {
  let content: z.infer<typeof genesisSchema>;
  try {
    content = genesisSchema.parse(JSON.parse(readFileSync(join(dir, GENESIS), 'utf8')));
  } catch (cause) {
    throw new Error(`cannot read ${join(dir, GENESIS)}: restore it or start with --reset`, { cause });
  }
  const { slotsPerEpoch, creationTime, format, ...rest } = content;
  return {
    ...rest,
    creationTime: BigInt(creationTime),
    epochSchedule: epochScheduleOf(slotsPerEpoch),
    slotMs,
  };
}
