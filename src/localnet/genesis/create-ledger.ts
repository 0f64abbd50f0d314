import { encodeRecord } from '../history/record-codec.ts';
import { SegmentLog } from '../history/segment-log.ts';
import { writeSnapshot } from '../history/snapshot-file.ts';
import { type GenesisOptions, makeGenesis, newGenesisKeys } from './genesis.ts';
import { logDir, removeLedger, writeGenesis, writeKeys } from './ledger-dir.ts';

/**
 * Makes a ledger in a directory: keys, a snapshot of the genesis accounts, a log that holds slot 0, and last the
 * file that says it exists. What an earlier attempt left behind is deleted.
 * @param creationTime - unix seconds.
 */
export async function createLedger(
  dir: string,
  options: GenesisOptions,
  creationTime: number,
): Promise<void> {
  removeLedger(dir);
  const keys = newGenesisKeys();
  const { genesis, accounts, header } = makeGenesis(keys, options, creationTime);
  writeKeys(dir, keys);
  await writeSnapshot(dir, 0, accounts);
  const log = new SegmentLog(logDir(dir), (error) => {
    throw error;
  });
  log.rotate(0);
  log.append(0, encodeRecord({ header, transactions: [], rewards: [], accounts: new Map(), trace: null }));
  await log.close();
  writeGenesis(dir, genesis);
}
