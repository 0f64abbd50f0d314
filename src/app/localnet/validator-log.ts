import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shredVersion } from '../../localnet/genesis/shred-version.ts';
import type { Contact, Genesis } from '../../localnet/node.ts';
import { FEATURE_SET, VERSION } from '../../localnet/version.ts';

/**
 * Writes `validator.log` into a ledger's directory, anew at each start: the lines that tools look for in that of
 * solana-test-validator.
 * @param now - the time of the lines.
 */
export function writeValidatorLog(dir: string, genesis: Genesis, contact: Contact, now: Date): void {
  const features = FEATURE_SET.toString(16).padStart(8, '0');
  const lines = [
    ['agave_validator', `agave-validator ${VERSION} (src:00000000; feat:${features}, client:Agave)`],
    ['agave_validator', `identity pubkey: ${genesis.identity}`],
    ['solana_core::validator', `vote account pubkey: ${genesis.voteAccount}`],
    ['solana_core::validator', `genesis hash: ${genesis.hash}`],
    ['solana_core::validator', `shred_version: ${shredVersion(genesis.hash)}`],
    ['solana_core::validator', `local gossip address: ${contact.gossip}`],
    ['solana_rpc::rpc_service', `rpc bound to ${contact.rpc}`],
  ];
  const stamp = now.toISOString().replace('Z', '000000Z');
  const text = lines.map(([module, line]) => `[${stamp} INFO  ${module}] ${line}\n`).join('');
  writeFileSync(join(dir, 'validator.log'), text);
}
