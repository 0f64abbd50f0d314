import { join } from 'node:path';
import type { Account } from '../../src/ledger/account/account.ts';
import type { Address } from '../../src/ledger/address.ts';
import { openLocalNode } from '../../src/localnet/open.ts';
import { temporaryFolder } from '../service/program.ts';

/** @returns the data folder of a service whose embedded ledger begins with these accounts. */
export async function dataDirWith(accounts: readonly (readonly [Address, Account])[]): Promise<string> {
  const dataDir = temporaryFolder('placed');
  const node = await openLocalNode({ ledgerDir: join(dataDir, 'ledger'), manual: true, accounts });
  await node.stop();
  return dataDir;
}
