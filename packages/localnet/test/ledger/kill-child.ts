import { Keypair } from '../../../../src/solana/ed25519.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { openLocalNode } from '../../src/genesis/open.ts';

/**
 * Ledger process to be killed. It sends transactions and prints finalized slots: `slot blockhash
 * signature…`.
 */
const [ledgerDir = ''] = process.argv.slice(2);
const node = await openLocalNode({
  ledgerDir,
  slotMs: 10,
  // Small segments, so that kills hit rotations and snapshots.
  limits: { segmentSlotsMax: 40 },
});

let received = Number(node.bank('finalized').slot);
process.stdout.write(`ready ${received}\n`);
node.onFrozen(() => {
  for (const finalized = Number(node.bank('finalized').slot); received < finalized; ) {
    received++;
    const block = node.history.block(BigInt(received) as never)!;
    const signatures = block.transactions.map(({ transaction }) => transaction.signatures[0]);
    process.stdout.write(`${[received, block.blockhash, ...signatures].join(' ')}\n`);
  }
  for (let i = 0; i < 3; i++) node.airdrop(Keypair.generate().address, lamports(1_000_000_000n));
});
