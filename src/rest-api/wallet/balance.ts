import { z } from 'zod';
import { solOf } from '../../decoding/amounts.ts';
import type { Chain } from '../../decoding/chain/chain.ts';
import type { Address } from '../../solana/address.ts';
import { objectOf, u64Of } from '../../solana/encoding/read-json.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';

export const lamportsOf = (chain: Chain, account: Address): Promise<bigint> =>
  chain.read('getBalance', [account, { commitment: chain.commitment }], (result) =>
    u64Of(objectOf(result, 'getBalance').value, 'lamports'),
  );

/** Source: rest-api.md §2.1. */
export const balance = endpoint('GET wallet/balance', {
  summary: 'Get the SOL balance of a wallet',
  from: 'query',
  failures: chainFailures,
  fields: z.object({ network: network(), wallet: address('The wallet.'), commitment: commitment() }),
  result: z.object({ balance: z.number().meta({ description: 'SOL, not lamports.' }) }),
  async handle({ wallet, ...read }, { chain }) {
    const lamports = await lamportsOf(chain(read), wallet);
    return { message: 'Balance fetched successfully', result: { balance: solOf(lamports) } };
  },
});
