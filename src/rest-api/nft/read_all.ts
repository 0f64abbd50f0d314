import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, optional, pageFields, pageOf, pageResult } from '../fields.ts';
import { loadNfts, nftWalletFields } from './load-nfts.ts';
import { nftSchema } from './nft-schema.ts';

const SIZE = 50;

/** Source: rest-api.md §2.11. */
export const readAll = endpoint('GET nft/read_all', {
  paths: ['/sol/v2/nft/read_all'],
  summary: 'List the NFTs of a wallet, in pages',
  description:
    'Sorted by mint. `total_count` counts the NFTs after filtering. Compressed NFTs are listed only if the ' +
    'service has a Digital Asset Standard server.',
  from: 'query',
  failures: chainFailures,
  fields: z.object({
    ...nftWalletFields,
    update_authority: optional(address('Only NFTs with this update authority.')),
    ...pageFields(SIZE, SIZE),
  }),
  result: z.object({ nfts: z.array(nftSchema), ...pageResult }),
  async handle({ update_authority: authority, ...fields }, context) {
    const found = await nftsOfWallet(context.chain(fields), context.services.das, fields.address);
    const matching = found.filter(
      ({ onChain }) => authority === undefined || onChain.updateAuthority === authority,
    );
    const { items, about } = pageOf(matching, fields.page, fields.size);
    const nfts = await loadNfts(items, context, fields.refresh);
    return { message: 'All NFTS in your wallet', result: { nfts, ...about } };
  },
});
