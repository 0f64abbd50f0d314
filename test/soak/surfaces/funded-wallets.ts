import { Keypair, LAMPORTS_PER_SOL } from '@solana/web3.js';
import { eventually } from '../../service/eventually.ts';
import type { SendRequest } from '../ledger-truth.ts';

/** A wallet that received one airdrop and does not change afterwards. */
export type FundedWallet = Readonly<{
  address: string;
  lamports: number;
  signature: string;
  slot: number;
}>;

type Status = Readonly<{ slot: number; confirmationStatus: string }> | null;

/** Finality takes 32 slots. */
const FINALIZED_MAX_MS = 120_000;

export async function createFundedWallets(send: SendRequest, count: number): Promise<FundedWallet[]> {
  const made: Omit<FundedWallet, 'slot'>[] = [];
  for (let number = 1; number <= count; number++) {
    const address = Keypair.generate().publicKey.toBase58();
    const lamports = number * LAMPORTS_PER_SOL + number;
    const signature = (await send('requestAirdrop', [address, lamports])) as string;
    made.push({ address, lamports, signature });
  }
  const statuses = await eventually(
    async () => {
      const answer = await send('getSignatureStatuses', [made.map(({ signature }) => signature)]);
      const { value } = answer as { value: readonly Status[] };
      return value.every((status) => status?.confirmationStatus === 'finalized') && value;
    },
    'airdrops are finalized',
    { timeoutMs: FINALIZED_MAX_MS, everyMs: 500 },
  );
  return made.map((wallet, at) => ({ ...wallet, slot: statuses[at]?.slot ?? 0 }));
}
