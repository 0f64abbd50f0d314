import { z } from 'zod';
import type { FoundNft, OnChainNft } from '../../decoding/nft/nft.ts';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import type { Address } from '../../solana/address.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, list, network, optional, pageFields, pageOf, pageResult } from '../fields.ts';
import { assertAtMost, loadNfts, nftListLimits, refreshField } from './load-nfts.ts';
import { attributesFilter, matchesAttributes, type NumberTest, royaltyFilter } from './nft-filters.ts';
import { nftSchema } from './nft-schema.ts';

const SIZE = 10;
const SIZE_MAX = 50;
const CREATORS_MAX = 20;

type ChainFilters = Readonly<{
  creators?: readonly Address[] | undefined;
  collection?: Address | undefined;
  royalty: NumberTest | null;
}>;

function matches(nft: OnChainNft, { creators, collection, royalty }: ChainFilters): boolean {
  const inCollection = nft.collection?.verified === true ? nft.collection.address : null;
  if (collection !== undefined && inCollection !== collection) return false;
  if (royalty !== null && !royalty(nft.royaltyBasisPoints / 100)) return false;
  return creators === undefined || nft.creators.some((creator) => creators.includes(creator.address));
}

/** Source: rest-api.md §2.14. */
export const search = endpoint('GET nft/search', {
  summary: 'Search the NFTs of a wallet',
  description:
    'All filters must match. Sorted by mint; the totals, under both names, count the matches. ' +
    'Attributes come from the off-chain JSON: an NFT whose JSON cannot be read has none. ' +
    `A search by attributes handles up to ${nftListLimits.searchedMax} NFTs after the other filters.`,
  from: 'query',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    commitment: commitment(),
    wallet: address('The wallet.'),
    creators: optional(
      list(address('A creator.'), CREATORS_MAX, 'NFTs of any of these creators; the field may be repeated.'),
    ),
    collection: optional(address('NFTs verified by this collection.')),
    royalty: royaltyFilter(),
    attributes: attributesFilter(),
    refresh: refreshField(),
    ...pageFields(SIZE, SIZE_MAX),
  }),
  result: z.object({
    nfts: z.array(nftSchema),
    ...pageResult,
    total_data: z.number().int().meta({ description: 'Same as `total_count`.' }),
    total_page: z.number().int().meta({ description: 'Same as `total_pages`.' }),
  }),
  async handle({ attributes, refresh, page, size, ...fields }, context) {
    const found = await nftsOfWallet(context.chain(fields), context.services.das, fields.wallet);
    const candidates = found.filter(({ onChain }) => matches(onChain, fields));
    const load = (nfts: readonly FoundNft[]) => loadNfts(nfts, context, refresh);
    if (attributes === null) {
      const { items, about } = pageOf(candidates, page, size);
      return { message: 'filtered NFTs', result: toSearchResult(await load(items), about) };
    }
    const searched = await load(assertAtMost(candidates, nftListLimits.searchedMax));
    const matching = searched.filter((nft) => matchesAttributes(nft.attributes, attributes));
    const { items, about } = pageOf(matching, page, size);
    return { message: 'filtered NFTs', result: toSearchResult(items, about) };
  },
});

const toSearchResult = <Nft>(nfts: readonly Nft[], about: ReturnType<typeof pageOf>['about']) => ({
  ...{ nfts: [...nfts], ...about },
  ...{ total_data: about.total_count, total_page: about.total_pages },
});
