import { z } from 'zod';
import { nftsOfWallet } from '../../insight/nft/nfts-of-wallet.ts';
import { endpoint } from '../endpoint.ts';
import { address, commitment, network, optional } from '../fields.ts';
import { pageFields, pageOf, pageResult } from '../page.ts';
import { atMost, nftListLimits } from './nft-list-limits.ts';
import { nftSchema } from './nft-schema.ts';
import { refreshField, shownNfts } from './shown-nfts.ts';

const SIZE = 50;

const walletFields = {
  network: network(),
  commitment: commitment(),
  address: address('The wallet.'),
  refresh: refreshField(),
};

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
  fields: z.object({
    ...walletFields,
    update_authority: optional(address('Only NFTs with this update authority.')),
    ...pageFields(SIZE, SIZE),
  }),
  result: z.object({ nfts: z.array(nftSchema), ...pageResult }),
  async answer(
    { network: name, commitment: level, address: wallet, update_authority, refresh, page, size },
    context,
  ) {
    const found = await nftsOfWallet(context.chain(name, level), context.services.das, wallet);
    const wanted =
      update_authority === undefined
        ? found
        : found.filter(({ onChain }) => onChain.updateAuthority === update_authority);
    const { items, about } = pageOf(wanted, page, size);
    const nfts = await shownNfts(items, context, refresh);
    return { message: 'All NFTS in your wallet', result: { nfts, ...about } };
  },
});

/** The first version of the same, which gives a list. Source: rest-api.md §2.23. */
export const readAllUnpaged = endpoint({
  verb: 'GET',
  paths: ['/sol/v1/nft/read_all'],
  group: 'nft',
  name: 'nft/read_all_v1',
  summary: 'NFTs of a wallet, in one list',
  description:
    `In the order of their mints. For wallets with more than ${nftListLimits.unpagedMax} there is ` +
    '`/sol/v2/nft/read_all`.',
  from: 'query',
  fields: z.object(walletFields),
  result: z.array(nftSchema),
  async answer({ network: name, commitment: level, address: wallet, refresh }, context) {
    const found = await nftsOfWallet(context.chain(name, level), context.services.das, wallet);
    const result = await shownNfts(atMost(found, nftListLimits.unpagedMax), context, refresh);
    return { message: 'All NFTS in your wallet', result };
  },
});
