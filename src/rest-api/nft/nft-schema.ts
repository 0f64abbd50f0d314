import { z } from 'zod';
import type { JsonValue } from '../../base/json.ts';

const text = (description: string, example?: string) =>
  z.string().meta(example === undefined ? { description } : { description, examples: [example] });

const json = z.custom<JsonValue>(() => true).meta({ description: 'Text, a number, or any other JSON.' });

const creator = z.object({
  address: text('Address of the creator.'),
  share: z.number().meta({ description: 'Percent of the royalty.' }),
  verified: z.boolean().meta({ description: 'Whether the creator signed.' }),
});

const collection = z
  .object({
    address: text("Address of the collection's NFT.").optional(),
    verified: z.boolean().meta({ description: 'Whether the collection verified the NFT.' }).optional(),
    name: z.string().optional(),
    family: z.string().optional(),
  })
  .meta({ description: 'Empty for an NFT without collection.' });

const tokenRecord = z
  .object({
    address: text('Address of the token record.'),
    key: text('Account type.', 'TokenRecord'),
    state: z.enum(['Unlocked', 'Locked', 'Listed']),
    rule_set_revision: z
      .custom<number | bigint>((value) => typeof value === 'number' || typeof value === 'bigint')
      .nullable()
      .meta({ type: ['integer', 'null'] }),
    delegate: z.string().nullable(),
    token_delegate_role: z.string().nullable(),
    locked_transfer: z.string().nullable(),
  })
  .meta({ description: 'For a programmable NFT, if requested.' });

/** Source: rest-api.md §2.12. */
export const nftSchema = z
  .object({
    name: text('Name.', 'Mad Lads #8420'),
    symbol: text('Symbol.', 'MAD'),
    royalty: z.number().meta({ description: 'Percent of a sale for the creators.', examples: [4.2] }),
    image_uri: text('From the off-chain JSON.'),
    cached_image_uri: text('Same as `image_uri`: images are not cached.'),
    animation_url: text('From the off-chain JSON.'),
    cached_animation_url: text('Same as `animation_url`.'),
    metadata_uri: text('URI of the off-chain JSON.'),
    description: text('From the off-chain JSON.'),
    mint: text('Address of the NFT.'),
    owner: text('Address of the owner; empty without an owner.'),
    update_authority: text('Update authority; empty if immutable.'),
    creators: z.array(creator).readonly(),
    collection,
    attributes: z.record(z.string(), json).readonly().meta({ description: 'Values by trait name.' }),
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
    merkle_tree: text('Merkle tree of a compressed NFT; else empty.'),
    is_burnt: z.boolean(),
    token_record: tokenRecord.optional(),
  })
  .meta({ title: 'Nft' });
