import { join } from 'node:path';
import { openLocalNode } from '../../packages/localnet/src/genesis/open.ts';
import type { Account } from '../../src/solana/account/account.ts';
import type { Address } from '../../src/solana/address.ts';
import { temporaryFolder } from '../service/program.ts';

/** @returns the data folder of a service whose embedded ledger starts with these accounts. */
export async function dataDirWith(accounts: readonly (readonly [Address, Account])[]): Promise<string> {
  const dataDir = temporaryFolder('placed');
  const node = await openLocalNode({ ledgerDir: join(dataDir, 'ledger'), manual: true, accounts });
  await node.stop();
  return dataDir;
}
