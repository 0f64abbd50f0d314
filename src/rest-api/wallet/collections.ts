import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import type { Nft } from '../../decoding/nft/show-nft.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { assertAtMost, loadNfts, nftListLimits, refreshField } from '../nft/load-nfts.ts';
import { nftSchema } from '../nft/nft-schema.ts';

const isInVerified = ({ collection }: Nft): boolean =>
  collection.verified === true && collection.address !== undefined;

/** Address of the verified collection or, without one, the name and family in the off-chain JSON. */
function groupKey(nft: Nft): string {
  const { address: mint = '', name = '', family = '' } = nft.collection;
  return isInVerified(nft) ? mint : JSON.stringify([name, family]);
}

function toGroup(nfts: Nft[]) {
  const first = nfts[0] as Nft;
  const { address: mint, name = '', family } = first.collection;
  const symbol = isInVerified(first) && first.symbol !== '' ? first.symbol : undefined;
  const familyName = family ?? symbol;
  return {
    ...(isInVerified(first) && { address: mint }),
    name,
    ...(familyName !== undefined && { family: familyName }),
    nft_count: nfts.length,
    nfts,
  };
}

const hasNoName = ({ address: mint, name, family }: ReturnType<typeof toGroup>): boolean =>
  mint === undefined && name === '' && family === undefined;

/** Source: rest-api.md §2.7. */
export const collections = endpoint('GET wallet/collections', {
  summary: 'List the NFTs of a wallet by collection',
  description:
    'Grouped by verified collection; other NFTs by name and family in their off-chain JSON (such a group ' +
    `has no \`address\`), the rest under the name \`""\`. For wallets of up to ${nftListLimits.groupedMax} NFTs.`,
  from: 'query',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    commitment: commitment(),
    wallet_address: address('The wallet.'),
    refresh: refreshField(),
  }),
  result: z.object({
    collections: z.array(
      z.object({
        address: z.string().meta({ description: 'NFT of the verified collection.' }).optional(),
        name: z.string(),
        family: z
          .string()
          .meta({ description: 'From the off-chain JSON, else the symbol of the first NFT.' })
          .optional(),
        nft_count: z.number().int(),
        nfts: z.array(nftSchema),
      }),
    ),
  }),
  async handle({ wallet_address: wallet, refresh, ...read }, context) {
    const found = await nftsOfWallet(context.chain(read), context.services.das, wallet);
    const nfts = await loadNfts(assertAtMost(found, nftListLimits.groupedMax), context, refresh);
    const groups = [...Map.groupBy(nfts, groupKey).values()].map(toGroup);
    const sorted = [...groups.filter((group) => !hasNoName(group)), ...groups.filter(hasNoName)];
    return { message: 'Collections fetched successfully', result: { collections: sorted } };
  },
});
