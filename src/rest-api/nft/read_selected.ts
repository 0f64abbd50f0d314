import { z } from 'zod';
import { readNfts, withTokenRecords } from '../../decoding/nft/read-nfts.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, flag, list, network } from '../fields.ts';
import { loadNfts, refreshField } from './load-nfts.ts';
import { nftSchema } from './nft-schema.ts';

const ADDRESSES_MAX = 10;

/** Source: rest-api.md §2.13. */
export const readSelected = endpoint('POST nft/read_selected', {
  summary: 'Get up to ten NFTs with metadata',
  description: 'In request order. Addresses that are no NFTs are left out.',
  from: 'body',
  failures: chainFailures,
  fields: z.object({
    network: network(),
    commitment: commitment(),
    token_addresses: list(
      address('Mint of an NFT, or address of an asset.'),
      ADDRESSES_MAX,
      'The requested NFTs.',
    ),
    refresh: refreshField(),
    token_record: flag('Add the token records of programmable NFTs.'),
  }),
  result: z.array(nftSchema),
  async handle({ token_addresses: mints, refresh, token_record, ...read }, context) {
    const chain = context.chain(read);
    const found = await readNfts(chain, mints, context.services.das);
    const nfts = mints.flatMap((mint) => found.get(mint) ?? []);
    const complete = token_record ? await withTokenRecords(chain, nfts) : nfts;
    return { message: 'Selected NFTs metadata', result: await loadNfts(complete, context, refresh) };
  },
});
