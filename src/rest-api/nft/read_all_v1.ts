import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { loadNfts, nftWalletFields } from './load-nfts.ts';
import { atMost, nftListLimits } from './nft-list-limits.ts';
import { nftSchema } from './nft-schema.ts';

/** The first version of `nft/read_all`, which gives a list. Source: rest-api.md §2.23. */
export const readAllV1 = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/nft/read_all'],
  group: 'nft',
  name: 'nft/read_all_v1',
  summary: 'NFTs of a wallet, in one list',
  description:
    `In the order of their mints. For wallets with more than ${nftListLimits.unpagedMax} there is ` +
    '`/sol/v2/nft/read_all`.',
  from: 'query',
  failures: ofChain,
  fields: z.object(nftWalletFields),
  result: z.array(nftSchema),
  async answer({ network: name, commitment: level, address: wallet, refresh }, context) {
    const found = await nftsOfWallet(context.chain(name, level), context.services.das, wallet);
    const result = await loadNfts(atMost(found, nftListLimits.unpagedMax), context, refresh);
    return { message: 'All NFTS in your wallet', result };
  },
});
