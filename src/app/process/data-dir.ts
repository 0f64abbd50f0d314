import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';

/** The embedded database of a data folder. */
export const databaseFile = (dataDir: string): string => join(dataDir, 'solway.db');

/** The embedded ledger's folder in a data folder. */
export const ledgerFolder = (dataDir: string): string => join(dataDir, 'ledger');

/** The folder of stored files in a data folder. */
export const filesFolder = (dataDir: string): string => join(dataDir, 'files');

/** The folder of fetched documents in a data folder; each worker of a service has its own. */
export const offChainFolder = (dataDir: string, worker: number): string =>
  join(dataDir, worker === 1 ? 'off-chain' : `off-chain-${worker}`);

/**
 * The socket through which `solway reload` reaches the service of a data folder. Its path may have about 100 bytes, so
 * it is relative where that is shorter.
 */
export function reloadSocketFile(dataDir: string): string {
  const whole = join(dataDir, 'reload.sock');
  const short = relative(process.cwd(), whole);
  return short.length < whole.length ? short : whole;
}

/** Makes the folder when absent, for its owner only, and checks that this user may write there. */
export async function openDataDir(dataDir: string): Promise<void> {
  makeFolder(dataDir, 0o700);
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
}
