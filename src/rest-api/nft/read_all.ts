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
  async handle(
    { network: name, commitment: level, address: wallet, update_authority, refresh, page, size },
    context,
  ) {
    const found = await nftsOfWallet(context.chain(name, level), context.services.das, wallet);
    const matching =
      update_authority === undefined
        ? found
        : found.filter(({ onChain }) => onChain.updateAuthority === update_authority);
    const { items, about } = pageOf(matching, page, size);
    const nfts = await loadNfts(items, context, refresh);
    return { message: 'All NFTS in your wallet', result: { nfts, ...about } };
  },
});
