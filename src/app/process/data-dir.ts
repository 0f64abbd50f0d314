import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';

export const databaseFile = (dataDir: string): string => join(dataDir, 'solway.db');

export const ledgerDir = (dataDir: string): string => join(dataDir, 'ledger');

export const finalizedCacheFile = (dataDir: string): string => join(dataDir, 'finalized.cache');

export const filesDir = (dataDir: string): string => join(dataDir, 'files');

/** Each worker has its own folder for fetched documents. */
export const offChainDir = (dataDir: string, worker: number): string =>
  join(dataDir, worker === 1 ? 'off-chain' : `off-chain-${worker}`);

/** Socket paths are limited to about 100 bytes, so the relative path is used if it is shorter. */
export function reloadSocketFile(dataDir: string): string {
  const whole = join(dataDir, 'reload.sock');
  const short = relative(process.cwd(), whole);
  return short.length < whole.length ? short : whole;
}

/** Creates the folder if needed, accessible only to its owner, and checks write permission. */
export async function openDataDir(dataDir: string): Promise<void> {
  makeFolder(dataDir, 0o700);
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
}
