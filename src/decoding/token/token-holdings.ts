import { mapTimeSliced } from '../../base/concurrency/time-sliced.ts';
import { Failure } from '../../protocol/errors.ts';
import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { isTokenProgram, programs } from '../../solana/programs.ts';
import { decodeTokenAccount } from '../../solana/token/token-state.ts';
import type { AccountAt, Chain } from '../chain/chain.ts';

export type TokenHolding = Readonly<{
  account: Address;
  program: Address;
  mint: Address;
  /** Base units, u64. */
  amount: bigint;
  isFrozen: boolean;
}>;

export const holdingsLimits = {
  /** Maximum number of non-empty token accounts per response. */
  accountsMax: 10_000,
};

function holdingOf({ address, account }: AccountAt, wallet: Address): TokenHolding | null {
  const token = isTokenProgram(account.owner) ? decodeTokenAccount(account.data) : null;
  if (token === null || token.owner !== wallet) return null;
  const { mint, amount, state } = token;
  return { account: address, program: account.owner, mint, amount, isFrozen: state === 'frozen' };
}

function inOrder(a: TokenHolding, b: TokenHolding): number {
  if (a.mint !== b.mint) return a.mint < b.mint ? -1 : 1;
  return a.account < b.account ? -1 : 1;
}

/** Reads all token accounts of a wallet, including empty accounts, in one call per program. */
export async function allHoldingsOf(
  chain: Chain,
  wallet: Address,
  programIds: readonly Address[] = [programs.token, programs.token2022],
): Promise<TokenHolding[]> {
  const holdings = await chain.each(programIds, async (programId) => {
    const accounts = await chain.tokenAccounts(wallet, { programId });
    const read = await mapTimeSliced(accounts, (account) => holdingOf(account, wallet));
    return read.flatMap((holding) => (holding?.program === programId ? [holding] : []));
  });
  return holdings.flat();
}

/** Non-empty token accounts of a wallet, sorted by mint and account. @throws Failure ANSWER_TOO_LARGE. */
export async function holdingsOf(
  chain: Chain,
  wallet: Address,
  { accountsMax }: typeof holdingsLimits = holdingsLimits,
): Promise<TokenHolding[]> {
  const held = (await allHoldingsOf(chain, wallet)).filter(({ amount }) => amount > 0n);
  if (held.length > accountsMax) throw new Failure('ANSWER_TOO_LARGE');
  return held.sort(inOrder);
}

/** Reads all token accounts of a wallet for one mint, including empty accounts, in one call. */
export async function holdingsOfMint(chain: Chain, wallet: Address, mint: Address): Promise<TokenHolding[]> {
  const accounts = await chain.tokenAccounts(wallet, { mint });
  return accounts
    .flatMap((account) => holdingOf(account, wallet) ?? [])
    .filter((holding) => holding.mint === mint)
    .sort(inOrder);
}

/** Source: spl-associated-token-account, `get_associated_token_address_with_program_id`. */
export function associatedTokenAccount(wallet: Address, mint: Address, program: Address): Address {
  const seeds = [addressBytes(wallet), addressBytes(program), addressBytes(mint)];
  return findProgramAddress(seeds, programs.ata).address;
}
