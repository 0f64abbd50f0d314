import { type Address, addressBytes } from '../../solana/address.ts';
import { findProgramAddress } from '../../solana/program-address.ts';
import { programs } from '../../solana/programs.ts';

/**
 * Where a wallet keeps a token unless it chose another account.
 * @param program - the token program of the mint.
 * @see spl-associated-token-account, `get_associated_token_address_with_program_id`
 */
export function associatedTokenAccount(wallet: Address, mint: Address, program: Address): Address {
  const seeds = [addressBytes(wallet), addressBytes(program), addressBytes(mint)];
  return findProgramAddress(seeds, programs.ata).address;
}
