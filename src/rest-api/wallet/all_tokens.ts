import { z } from 'zod';
import { tokensOfWallet } from '../../decoding/token/wallet-tokens.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, commitment, network } from '../fields.ts';
import { nameSources, tokenSchema, toTokenResult } from './token-schema.ts';

/** Source: spec, "REST"; rest-api.md §2.2. */
export const allTokens = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/wallet/all_tokens'],
  group: 'wallet',
  name: 'wallet/all_tokens',
  summary: 'Fungible tokens of a wallet, with names',
  description:
    'One entry for each token account that holds something, of both token programs, in the order of mints. Balances ' +
    'of mints that bear interest or multiply are as they stand now. Names come from the list of known tokens, then ' +
    'from metadata. NFTs are in `nft/read_all`.',
  from: 'query',
  failures: ofChain,
  fields: z.object({ network: network(), commitment: commitment(), wallet: address('The wallet.') }),
  result: z.array(tokenSchema),
  async answer({ network: name, commitment: level, wallet }, { chain, services }) {
    const tokens = await tokensOfWallet(chain(name, level), wallet, nameSources(services));
    return { message: `${tokens.length} tokens fetched successfully`, result: tokens.map(toTokenResult) };
  },
});
