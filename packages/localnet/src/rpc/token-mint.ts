import { invalidParams } from '../../../../src/protocol/rpc-error.ts';
import type { Account } from '../../../../src/solana/account/account.ts';
import { type Address, addressBytes } from '../../../../src/solana/address.ts';
import { mintTokenAmount } from '../../../../src/solana/encoding/ui-token-amount.ts';
import { isTokenProgram, nativeMint, programs } from '../../../../src/solana/programs.ts';
import { decodeMintScale } from '../../../../src/solana/token/extensions.ts';
import type { MintScale } from '../../../../src/solana/token/ui-amount.ts';
import type { Bank } from '../node.ts';
import type { TokenAmount } from './token-amount.ts';
import type { TokenFilter } from './token-filter.ts';

const NATIVE_DECIMALS = 9;

type MintFacts = Readonly<{ program: Address; scale: MintScale }>;

/** Amount at the bank's time. */
export const tokenAmount = (bank: Bank, amount: bigint, scale: MintScale): TokenAmount =>
  mintTokenAmount(amount, scale, bank.clock.unixTimestamp) as TokenAmount;

/** Wrapped SOL needs no account. */
function factsOrFault(bank: Pick<Bank, 'account'>, mint: Address): MintFacts | string {
  if (mint === nativeMint) return { program: programs.token, scale: { decimals: NATIVE_DECIMALS } };
  const account = bank.account(mint);
  if (account === null) return 'Invalid param: could not find mint';
  const scale = decodeMintScale(account.data);
  if (scale === null) return 'Invalid param: Token mint could not be unpacked';
  return { program: account.owner, scale };
}

/** null if the account is not a mint. */
export function findMint(bank: Pick<Bank, 'account'>, mint: Address): MintFacts | null {
  const facts = factsOrFault(bank, mint);
  return typeof facts === 'string' ? null : facts;
}

/**
 * Source: Agave `get_mint_owner_and_additional_data`.
 * @throws RpcError -32602 if the account is missing or not a mint.
 */
export function mintFacts(bank: Bank, mint: Address): MintFacts {
  const facts = factsOrFault(bank, mint);
  if (typeof facts === 'string') throw invalidParams(facts);
  return facts;
}

/** Like `mintFacts`, but the mint must be owned by a token program. */
export function tokenMintFacts(bank: Bank, mint: Address): MintFacts {
  const facts = mintFacts(bank, mint);
  if (!isTokenProgram(facts.program)) throw invalidParams('Invalid param: not a Token mint');
  return facts;
}

/** @throws RpcError -32602 for an unknown mint or token program. */
export function accountsOf(bank: Bank, filter: TokenFilter<Address>): (account: Account) => boolean {
  if (filter.by === 'programId') {
    if (!isTokenProgram(filter.key)) throw invalidParams('Invalid param: unrecognized Token program id');
    return (account) => account.owner === filter.key;
  }
  const { program } = tokenMintFacts(bank, filter.key);
  const mint = addressBytes(filter.key);
  return ({ owner, data }) => owner === program && mint.every((byte, i) => data[i] === byte);
}
