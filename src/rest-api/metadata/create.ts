import { z } from 'zod';
import { writeJson } from '../../base/json.ts';
import type { Address } from '../../solana/address.ts';
import { endpoint, storageFailures } from '../endpoint.ts';
import { address, checked, integer, isAbsent, network, optional, text } from '../fields.ts';
import { storedSchema } from '../storage/upload.ts';

const NAME_MAX = 256;
const SYMBOL_MAX = 64;
const DESCRIPTION_MAX = 20_000;
const URI_MAX = 2_048;
const ATTRIBUTES_MAX = 256;
const ATTRIBUTE_MAX = 1_024;
const FILES_MAX = 64;
const TYPE_MAX = 128;

const BASIS_POINTS_MAX = 10_000;

const NUMBER = /^\d{1,15}(?:\.\d{1,15})?$/;

/** URI schemes that wallets and marketplaces support. */
const SCHEMES = new Set(['http:', 'https:', 'ipfs:', 'ipns:', 'ar:']);

const isUri = (input: unknown): boolean =>
  typeof input === 'string' && input.length <= URI_MAX && SCHEMES.has(URL.parse(input)?.protocol ?? '');

const uri = (description: string) =>
  checked<string>(
    isUri,
    'is missing: send a URL',
    `must be a URL with https, http, ipfs or ar, of at most ${URI_MAX} characters`,
  ).meta({ type: 'string', format: 'uri', maxLength: URI_MAX, description });

const attribute = z
  .object(
    {
      trait_type: text(ATTRIBUTE_MAX, 'Trait name.'),
      value: z
        .custom<string | number | bigint | boolean>(
          (input) =>
            (typeof input === 'string' && input.length <= ATTRIBUTE_MAX) ||
            Number.isFinite(input) ||
            typeof input === 'bigint' ||
            typeof input === 'boolean',
          { error: `must be text of at most ${ATTRIBUTE_MAX} characters, a number, true or false` },
        )
        .meta({ type: ['string', 'number', 'boolean'], description: 'Trait value.' }),
      display_type: optional(text(ATTRIBUTE_MAX, 'Display type of a numeric value.')),
    },
    { error: 'must be an object with trait_type and value' },
  )
  .meta({ type: 'object', description: 'A trait and its value.' });

const file = z
  .object(
    { uri: uri('URI of the file.'), type: text(TYPE_MAX, 'Media type.') },
    { error: 'must be an object with uri and type' },
  )
  .meta({ type: 'object', description: 'A file of the NFT.' });

const several = <Kind extends z.ZodType>(kind: Kind, most: number, description: string) =>
  z
    .preprocess(
      (input) => {
        if (isAbsent(input)) return [];
        return Array.isArray(input) ? input : [input];
      },
      z.array(kind).max(most, { error: `has more than ${most}` }),
    )
    .meta({ type: 'array', items: kind.meta() ?? {}, maxItems: most, description });

const royalty = z
  .preprocess(
    (input) => {
      if (isAbsent(input)) return 0;
      return typeof input === 'string' && NUMBER.test(input) ? Number(input) : input;
    },
    z.custom<number>(
      (value) => Number.isFinite(value) && Number(value) >= 0 && Number(value) <= BASIS_POINTS_MAX,
      { error: `must be a number from 0 to ${BASIS_POINTS_MAX}, in basis points: 500 is 5%` },
    ),
  )
  .meta({
    ...{ type: 'number', minimum: 0, maximum: BASIS_POINTS_MAX, default: 0 },
    description: 'Royalty of sales in basis points: 500 is 5%. Stored as given.',
  });

const fields = z.object({
  network: network(),
  creator: address('The creator, listed as verified.'),
  name: text(NAME_MAX, 'The name of the NFT.'),
  symbol: optional(text(SYMBOL_MAX, 'Its symbol.')),
  description: optional(text(DESCRIPTION_MAX, 'Description.')),
  image: uri('Its picture.'),
  external_url: optional(uri('A page about it.')),
  attributes: several(attribute, ATTRIBUTES_MAX, 'Its traits.'),
  share: integer(0, 100, 100, 'Royalty share of the creator, in percent.'),
  royalty,
  files: several(file, FILES_MAX, 'Files of the NFT.'),
  file: several(file, FILES_MAX, 'Alias of `files`.'),
});

/** Metaplex Non-Fungible Standard document, with its members in the order of rest-api.md §2.22. */
function documentOf(input: z.output<typeof fields>): string {
  const { name, symbol, description, royalty, image, attributes, creator, share, external_url } = input;
  const files = input.files.length > 0 ? input.files : input.file;
  const creators: readonly { address: Address; verified: true; share: number }[] = [
    { address: creator, verified: true, share },
  ];
  return writeJson({
    name,
    symbol: symbol ?? '',
    description: description ?? '',
    seller_fee_basis_points: royalty,
    external_url: external_url ?? '',
    image,
    attributes,
    properties: { creators, files: files.length > 0 ? files : undefined },
  });
}

/** Source: rest-api.md §2.22. */
export const create = endpoint('POST metadata/create', {
  summary: 'Write the metadata JSON of an NFT and store it',
  description:
    'The document has the members of the Metaplex Non-Fungible Standard in a fixed order: the same fields give the ' +
    'same `cid`.',
  from: 'body',
  failures: storageFailures,
  fields,
  result: storedSchema,
  async handle(input, { services, caller: { ownerId, signal } }) {
    const about = { name: null, type: 'application/json', ownerId };
    const { cid, uri } = await services.files.put(Buffer.from(documentOf(input)), about, signal);
    return { message: 'Metadata created successfully', result: { cid, uri } };
  },
});
