import { parseJson, writeJson } from '../../src/base/json.ts';
import { mintExtensions, tokenMintOf, uiAmountOfMint } from '../../src/decoding/token/token-mint.ts';
import { programs } from '../../src/solana/programs.ts';
import { lamports, U64_MAX } from '../../src/solana/units.ts';
import { seeds as accounts } from './parsed.ts';

export const from = "programs' accounts, through nodes";
export const covers = ['decoding/token/token-mint.ts', 'decoding/token/token-mint.ts'];

const MINT = programs.vote;

/** The accounts of the other target, which has mints with each extension. */
export const seeds = accounts;

/** Whatever a mint's account holds, its amounts are finite numbers and its extensions are JSON. */
export function fuzz(data: Uint8Array): boolean {
  const account = {
    lamports: lamports(1),
    data,
    owner: programs.token2022,
    executable: false,
    rentEpoch: 0n,
  };
  const token = tokenMintOf(MINT, new Map([[MINT, account]]));
  if (token === null) return false;
  for (const amount of [0n, 1n, U64_MAX, U64_MAX * 10_000n]) {
    for (const now of [undefined, 0n, 1_700_000_000n]) {
      if (!Number.isFinite(uiAmountOfMint(amount, token, now)))
        throw new Error('an amount that is no number');
    }
  }
  parseJson(writeJson(mintExtensions(token.data)));
  return true;
}
