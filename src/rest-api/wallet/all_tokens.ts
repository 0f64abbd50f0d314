import { z } from 'zod';
import { tokensOfWallet } from '../../decoding/token/wallet-tokens.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { tokenSchema, toTokenResult } from './token-schema.ts';

/** Source: rest-api.md §2.2. */
export const allTokens = endpoint('GET wallet/all_tokens', {
  summary: 'List the fungible tokens of a wallet',
  description:
    'One entry per non-empty token account of both token programs, sorted by mint. Balances of ' +
    'interest-bearing and scaled mints are current. Names come from the token list, then ' +
    'from metadata. Images that are not cached are loaded after the response. NFTs are in `nft/read_all`.',
  from: 'query',
  failures: chainFailures,
  fields: z.object({ network: network(), commitment: commitment(), wallet: address('The wallet.') }),
  result: z.array(tokenSchema),
  async handle({ wallet, ...read }, { chain, services }) {
    const tokens = await tokensOfWallet(chain(read), wallet, services);
    return { message: `${tokens.length} tokens fetched successfully`, result: tokens.map(toTokenResult) };
  },
});
