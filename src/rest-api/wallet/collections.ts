import { z } from 'zod';
import { nftsOfWallet } from '../../decoding/nft/read-nfts.ts';
import type { Nft } from '../../decoding/nft/show-nft.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { atMost, loadNfts, nftListLimits, refreshField } from '../nft/load-nfts.ts';
import { nftSchema } from '../nft/nft-schema.ts';

type Group = { address?: string; name: string; family?: string; nfts: Nft[] };

/** Address of a verified collection, else name and family. */
function groupKey({ collection }: Nft): string {
  if (collection.verified === true && collection.address !== undefined) return collection.address;
  return JSON.stringify([collection.name ?? '', collection.family ?? '']);
}

function emptyGroup({ collection, symbol }: Nft): Group {
  const { verified, address: mint, name = '', family } = collection;
  const isVerified = verified === true && mint !== undefined;
  const familyName = family ?? (isVerified && symbol !== '' ? symbol : undefined);
  return {
    ...(isVerified ? { address: mint } : {}),
    name,
    ...(familyName === undefined ? {} : { family: familyName }),
    nfts: [],
  };
}

/** In the order of their first NFTs; the group without name comes last. */
function groupNfts(nfts: readonly Nft[]): Group[] {
  const groups = new Map<string, Group>();
  for (const nft of nfts) {
    const key = groupKey(nft);
    const group = groups.get(key) ?? emptyGroup(nft);
    groups.set(key, group);
    group.nfts.push(nft);
  }
  const isNone = ({ address: mint, name, family }: Group): boolean =>
    mint === undefined && name === '' && family === undefined;
  const all = [...groups.values()];
  return [...all.filter((group) => !isNone(group)), ...all.filter(isNone)];
}

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
  async handle({ network: name, commitment: level, wallet_address: wallet, refresh }, context) {
    const found = await nftsOfWallet(context.chain(name, level), context.services.das, wallet);
    const nfts = await loadNfts(atMost(found, nftListLimits.groupedMax), context, refresh);
    const groups = groupNfts(nfts);
    return {
      message: 'Collections fetched successfully',
      result: {
        collections: groups.map(({ nfts: own, ...about }) => ({
          ...about,
          nft_count: own.length,
          nfts: own,
        })),
      },
    };
  },
});
