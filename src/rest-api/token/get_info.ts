import { z } from 'zod';
import type { WritableJson } from '../../base/json.ts';
import { findNames, unnamedToken } from '../../decoding/token/find-names.ts';
import { readMints } from '../../decoding/token/read-mints.ts';
import { mintExtensions, uiAmountOfMint } from '../../decoding/token/token-mint.ts';
import { Failure } from '../../protocol/errors.ts';
import { chainFailures, endpoint } from '../endpoint.ts';
import { address, commitment, network } from '../fields.ts';
import { nameShape } from '../wallet/token-schema.ts';

const extension = z
  .custom<WritableJson>((value) => typeof value === 'object' && value !== null)
  .meta({
    type: 'object',
    properties: {
      extension: { type: 'string', examples: ['transferFeeConfig'] },
      state: { type: 'object', description: 'As in `jsonParsed`; absent for an extension without state.' },
    },
    required: ['extension'],
  });

/** Source: rest-api.md §2.15. */
export const getInfo = endpoint('GET token/get_info', {
  summary: 'Get name, supply, authorities and extensions of a token',
  from: 'query',
  failures: ['NOT_A_MINT', ...chainFailures],
  fields: z.object({ network: network(), commitment: commitment(), token_address: address('The mint.') }),
  result: z.object({
    name: nameShape.name,
    symbol: nameShape.symbol,
    metadata_uri: z.string().meta({ description: 'URI of the off-chain JSON; empty if none.' }),
    image: nameShape.image,
    address: z.string().meta({ description: 'The mint.' }),
    mint_authority: z.string().meta({ description: 'Mint authority; empty if none.' }),
    freeze_authority: z.string().meta({ description: 'Freeze authority; empty if none.' }),
    current_supply: z.number().meta({ description: 'In whole tokens.', examples: [5034999432.111212] }),
    decimals: z.number().int(),
    extensions: z.array(extension).readonly().meta({ description: 'Token-2022 extensions.' }),
  }),
  async handle({ token_address: mint, ...read }, context) {
    const chain = context.chain(read);
    const { mints, now } = await readMints(chain, [mint], { clock: true });
    const token = mints.get(mint);
    const facts = { address: mint, network: read.network };
    if (token === undefined) throw new Failure('NOT_A_MINT', { facts });
    const names = await findNames([token], context.services, chain.signal);
    const { name, symbol, image } = names.get(mint) ?? unnamedToken;
    const { mintAuthority, freezeAuthority, supply, decimals } = token.mint;
    return {
      message: 'Tokens info',
      result: {
        ...{ name, symbol, metadata_uri: token.metadata?.metadataUri ?? '', image, address: mint },
        mint_authority: mintAuthority ?? '',
        freeze_authority: freezeAuthority ?? '',
        current_supply: uiAmountOfMint(supply, token, now),
        decimals,
        extensions: mintExtensions(token.data),
      },
    };
  },
});
