import { z } from 'zod';
import { readNfts, withTokenRecords } from '../../decoding/nft/read-nfts.ts';
import { Failure } from '../../protocol/errors.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, flag, network } from '../fields.ts';
import { loadNfts, refreshField } from './load-nfts.ts';
import { nftSchema } from './nft-schema.ts';

/** Source: rest-api.md §2.12. */
export const read = endpoint('GET nft/read', {
  summary: 'Get one NFT with metadata',
  description:
    'An NFT of either token program, an MPL Core asset, or, if the service has a Digital Asset Standard server, a ' +
    'compressed NFT. Off-chain data that does not arrive in time is empty (`is_loaded_metadata: false`).',
  from: 'query',
  failures: ['NFT_NOT_FOUND', ...chainFailures],
  fields: z.object({
    network: network(),
    commitment: commitment(),
    token_address: address('Mint of the NFT, or address of the asset.'),
    refresh: refreshField(),
    token_record: flag('Add the token record of a programmable NFT.'),
  }),
  result: nftSchema,
  async handle({ token_address: mint, refresh, token_record, ...where }, context) {
    const chain = context.chain(where);
    const found = (await readNfts(chain, [mint], context.services.das)).get(mint);
    const facts = { address: mint, network: where.network };
    if (found === undefined) throw new Failure('NFT_NOT_FOUND', { facts });
    const complete = token_record ? await withTokenRecords(chain, [found]) : [found];
    const [nft] = await loadNfts(complete, context, refresh);
    if (nft === undefined) throw new Failure('INTERNAL');
    return { message: 'NFT metadata', result: nft };
  },
});
