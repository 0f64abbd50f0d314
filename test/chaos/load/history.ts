import { setTimeout as delay } from 'node:timers/promises';
import { sign, transfer } from '../../../packages/localnet/test/signed-transactions.ts';
import type { ChaosFixture } from '../nodes/fixture.ts';

const TRANSACTIONS = 8;
const LAMPORTS = 5_000_000n;
/** Slots after which a transaction is finalized, and some more for block reads. */
const FINALIZED_AFTER = 36;

/** Funds the recipients and waits for finality. The last recipient does not change afterwards. */
export async function makeHistory({ ledger, payer, recipients }: ChaosFixture): Promise<void> {
  const at = { commitment: 'confirmed' };
  const { value } = await ledger.result<{ value: { blockhash: string } }>('getLatestBlockhash', [at]);
  for (let count = 0; count < TRANSACTIONS; count++) {
    const instructions = recipients.map(({ address }) =>
      transfer(payer.address, address, LAMPORTS + BigInt(count)),
    );
    const { base64 } = sign(payer, instructions, value.blockhash);
    await ledger.result('sendTransaction', [
      base64,
      { encoding: 'base64', preflightCommitment: 'confirmed' },
    ]);
  }
  const sentAt = await ledger.result<number>('getSlot', [{ commitment: 'processed' }]);
  const finalized = (): Promise<number> => ledger.result('getSlot', [{ commitment: 'finalized' }]);
  while ((await finalized()) < sentAt + FINALIZED_AFTER) await delay(200);
}
