import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Address } from '../../../src/solana/address.ts';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import type { Instruction } from '../../../src/solana/transaction/compile-message.ts';
import { openRig, type Rig } from './rig.ts';
import { memo, type Signed, sign } from './signed-transactions.ts';
import { key, mint, tokenAccount } from './support/accounts.ts';

const SOL = 1_000_000_000n;
const MINT = key(70);
const SENDER = key(71);
const RECEIVER = key(72);
/** Appears in no transaction itself, but its token account does. */
const WALLET = key(73);

let rig: Rig;
const payer = Keypair.generate();
const sent: Record<'tokens' | 'nothing' | 'memo', Signed> = {} as never;

const transferTokens = (amount: number): Instruction => ({
  programId: programs.token,
  accounts: [
    { address: SENDER, signer: false, writable: true },
    { address: RECEIVER, signer: false, writable: true },
    { address: payer.address, signer: true, writable: false },
  ],
  data: Uint8Array.of(3, amount, 0, 0, 0, 0, 0, 0, 0),
});

async function land(...instructions: Instruction[]): Promise<Signed> {
  const { value } = await rig.result('getLatestBlockhash', [{ commitment: 'processed' }]);
  const signed = sign(payer, instructions, value.blockhash);
  await rig.result('sendTransaction', [
    signed.base64,
    { encoding: 'base64', preflightCommitment: 'processed' },
  ]);
  rig.freeze();
  return signed;
}

beforeAll(async () => {
  rig = await openRig({
    accounts: [
      [MINT, mint(1000n, 0)],
      [SENDER, tokenAccount(MINT, payer.address, 500n)],
      [RECEIVER, tokenAccount(MINT, WALLET, 500n)],
    ],
  });
  await rig.result('requestAirdrop', [payer.address, SOL]);
  rig.freeze();
  sent.tokens = await land(transferTokens(5));
  sent.nothing = await land(transferTokens(0));
  sent.memo = await land(memo('hello'));
  rig.freeze();
});
afterAll(() => rig.close());

const signatures = async (of: Address, filters: object): Promise<string[]> => {
  const config = { commitment: 'confirmed', filters };
  const { data } = await rig.result('getTransactionsForAddress', [of, config]);
  return data.map(({ signature }: { signature: string }) => signature);
};

describe('getTransactionsForAddress of a wallet', () => {
  it('excludes token accounts by default', async () => {
    expect(await signatures(WALLET, {})).toEqual([]);
    expect(await signatures(WALLET, { tokenAccounts: 'none' })).toEqual([]);
  });

  it('includes token accounts by balance change or all', async () => {
    expect(await signatures(WALLET, { tokenAccounts: 'balanceChanged' })).toEqual([sent.tokens.signature]);
    expect(await signatures(WALLET, { tokenAccounts: 'all' })).toEqual([
      sent.nothing.signature,
      sent.tokens.signature,
    ]);
  });

  it('lists each transaction once', async () => {
    const all = await signatures(payer.address, { tokenAccounts: 'all' });
    expect(all.slice(0, 3)).toEqual([sent.memo.signature, sent.nothing.signature, sent.tokens.signature]);
    expect(new Set(all).size).toBe(all.length);
  });

  it('pages in both orders without gaps', async () => {
    for (const sortOrder of ['asc', 'desc']) {
      const walked: string[] = [];
      let paginationToken: string | null = null;
      do {
        const config: object = { commitment: 'confirmed', limit: 1, sortOrder, paginationToken };
        const page = await rig.result('getTransactionsForAddress', [payer.address, config]);
        walked.push(...page.data.map(({ signature }: { signature: string }) => signature));
        paginationToken = page.paginationToken;
      } while (paginationToken !== null);
      const whole = await signatures(payer.address, {});
      expect(walked).toEqual(sortOrder === 'desc' ? whole : whole.toReversed());
    }
  });

  it('is bounded by signatures, inclusive or exclusive', async () => {
    const bounded = (bounds: object) => signatures(payer.address, { signature: bounds });
    const [tokens, nothing, last] = [sent.tokens, sent.nothing, sent.memo].map(({ signature }) => signature);
    expect(await bounded({ gt: tokens })).toEqual([last, nothing]);
    expect(await bounded({ gte: nothing })).toEqual([last, nothing]);
    expect(await bounded({ gte: tokens, lt: last })).toEqual([nothing, tokens]);
    expect(await bounded({ gt: tokens, lte: nothing })).toEqual([nothing]);
  });

  it('is bounded by time', async () => {
    const now = Math.floor(Date.now() / 1000);
    expect(await signatures(payer.address, { blockTime: { gt: now + 100 } })).toEqual([]);
    expect(await signatures(payer.address, { blockTime: { lt: 1 } })).toEqual([]);
    expect(await signatures(payer.address, { blockTime: { lte: 18446744073709551615n } })).not.toEqual([]);
    expect(await signatures(payer.address, { slot: { gte: 18446744073709551615n } })).toEqual([]);
  });
});
