import { z } from 'zod';
import type { JsonValue } from '../../base/json.ts';

const text = (description: string, example?: string) =>
  z.string().meta(example === undefined ? { description } : { description, examples: [example] });

const json = z
  .custom<JsonValue>(() => true)
  .meta({ description: 'Text, a number, or what else its creator wrote.' });

const creator = z.object({
  address: text('Address of the creator.'),
  share: z.number().meta({ description: 'Percent of the royalty.' }),
  verified: z.boolean().meta({ description: 'Whether the creator signed for it.' }),
});

const collection = z
  .object({
    address: text("Address of the collection's NFT.").optional(),
    verified: z.boolean().meta({ description: 'Whether the collection took it in.' }).optional(),
    name: z.string().optional(),
    family: z.string().optional(),
  })
  .meta({ description: 'Without members where it is in none.' });

const tokenRecord = z
  .object({
    address: text('Address of the token record.'),
    key: text('Kind of the account.', 'TokenRecord'),
    state: z.enum(['Unlocked', 'Locked', 'Listed']),
    rule_set_revision: z
      .custom<number | bigint>((value) => typeof value === 'number' || typeof value === 'bigint')
      .nullable()
      .meta({ type: ['integer', 'null'] }),
    delegate: z.string().nullable(),
    token_delegate_role: z.string().nullable(),
    locked_transfer: z.string().nullable(),
  })
  .meta({ description: 'Of a programmable NFT, where it was asked for.' });

/** One NFT in an answer. Source: rest-api.md §2.12. */
export const nftSchema = z
  .object({
    name: text('Name.', 'Mad Lads #8420'),
    symbol: text('Symbol.', 'MAD'),
    royalty: z.number().meta({ description: 'Percent of a sale for the creators.', examples: [4.2] }),
    image_uri: text('From the off-chain JSON.'),
    cached_image_uri: text('The same as `image_uri`: images are not kept here.'),
    animation_url: text('From the off-chain JSON.'),
    cached_animation_url: text('The same as `animation_url`.'),
    metadata_uri: text('Where the off-chain JSON is.'),
    description: text('From the off-chain JSON.'),
    mint: text('Address of the NFT.'),
    owner: text('Address of its owner; empty where nobody holds it.'),
    update_authority: text('Who may change it; empty for nobody.'),
    creators: z.array(creator).readonly(),
    collection,
    attributes: z.record(z.string(), json).readonly().meta({ description: 'Values by their traits.' }),
    attributes_array: z.array(z.object({ trait_type: z.string(), value: json })).readonly(),
    files: z.array(z.object({ uri: z.string(), type: text('Media type.', 'image/png') })).readonly(),
    external_url: text('From the off-chain JSON.'),
    is_loaded_metadata: z.boolean().meta({ description: 'Whether the off-chain JSON could be read.' }),
    primary_sale_happened: z.boolean(),
    is_mutable: z.boolean(),
    token_standard: z.enum([
      'NonFungible',
      'ProgrammableNonFungible',
      'NonFungibleEdition',
      'ProgrammableNonFungibleEdition',
      'FungibleAsset',
      'Fungible',
    ]),
    is_compressed: z.boolean(),
    merkle_tree: text('The tree of a compressed NFT; empty for others.'),
    is_burnt: z.boolean(),
    token_record: tokenRecord.optional(),
  })
  .meta({ title: 'Nft' });
