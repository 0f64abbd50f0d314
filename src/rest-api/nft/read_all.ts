import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import { endpoint } from '../endpoint.ts';
import { ofChain } from '../failures.ts';
import { address, optional } from '../fields.ts';
import { pageFields, pageOf, pageResult } from '../page.ts';
import { loadNfts, nftWalletFields } from './load-nfts.ts';
import { nftSchema } from './nft-schema.ts';

const SIZE = 50;

/** Source: spec, "REST"; rest-api.md §2.11. */
export const readAll = endpoint({
  verb: 'GET',
  paths: ['/sol/v2/nft/read_all'],
  group: 'nft',
  name: 'nft/read_all',
  summary: 'NFTs of a wallet, in pages',
  description:
    'In the order of their mints. `total_count` counts what the filter leaves. Compressed NFTs are listed where the ' +
    'service has a server of the Digital Asset Standard; no plain node can list them.',
  from: 'query',
  failures: ofChain,
  fields: z.object({
    ...nftWalletFields,
    update_authority: optional(address('Only NFTs with this update authority.')),
    ...pageFields(SIZE, SIZE),
  }),
  result: z.object({ nfts: z.array(nftSchema), ...pageResult }),
  async answer(
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
