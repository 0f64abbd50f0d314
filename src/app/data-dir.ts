import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '../base/make-folder.ts';

/** The embedded database of a data folder. */
export const databaseFile = (dataDir: string): string => join(dataDir, 'solway.db');

/** The embedded ledger's folder in a data folder. */
export const ledgerFolder = (dataDir: string): string => join(dataDir, 'ledger');

/** Makes the folder when absent, for its owner only, and checks that this user may write there. */
export async function openDataDir(dataDir: string): Promise<void> {
  makeFolder(dataDir, 0o700);
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
}
