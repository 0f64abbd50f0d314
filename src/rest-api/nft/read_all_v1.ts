import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { assertAtMost, loadNfts, nftListLimits, nftWalletFields } from './load-nfts.ts';
import { nftSchema } from './nft-schema.ts';

/** Version 1 of `nft/read_all`: returns a list without pages. Source: rest-api.md §2.23. */
export const readAllV1 = endpoint('GET nft/read_all_v1', {
  paths: ['/sol/v1/nft/read_all'],
  summary: 'List the NFTs of a wallet',
  description:
    `Sorted by mint. For wallets with more than ${nftListLimits.unpagedMax} NFTs use ` +
    '`/sol/v2/nft/read_all`.',
  from: 'query',
  failures: chainFailures,
  fields: z.object(nftWalletFields),
  result: z.array(nftSchema),
  async handle(fields, context) {
    const found = await nftsOfWallet(context.chain(fields), context.services.das, fields.address);
    const result = await loadNfts(assertAtMost(found, nftListLimits.unpagedMax), context, fields.refresh);
    return { message: 'All NFTS in your wallet', result };
  },
});
