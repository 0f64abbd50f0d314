import type { Chain } from '../../decoding/chain/chain.ts';
import type { Address } from '../../solana/address.ts';
import { objectOf, u64Of } from '../../solana/encoding/read-json.ts';

/** Lamports of an account, at the commitment of the reader; 0 where there is none. */
export const lamportsOf = (chain: Chain, account: Address): Promise<bigint> =>
  chain.read('getBalance', [account, { commitment: chain.commitment }], (result) =>
    u64Of(objectOf(result, 'getBalance').value, 'lamports'),
  );
