import type { JsonValue } from '../../base/json.ts';
import { itemsOf, membersOf, textOf, wholeTextOf } from '../lenient-json.ts';

/** What off-chain JSON adds to an NFT. Texts are empty where it does not say. */
export type NftContent = Readonly<{
  image: string;
  animationUrl: string;
  description: string;
  externalUrl: string;
  /** In order; of two with one name the later counts. Values are text, numbers, truth values or null. */
  traits: readonly Trait[];
  files: readonly NftFile[];
  /** A name and family that nobody has vouched for. */
  collection: Readonly<{ name?: string; family?: string }>;
}>;

/** What an NFT is said to have. The value is text, a number, a truth value or null. */
export type Trait = Readonly<{ trait: string; value: JsonValue }>;
/** A file of an NFT. The type is its media type, empty where nothing says it. */
export type NftFile = Readonly<{ uri: string; type: string }>;

/** How much of off-chain JSON is taken: anybody writes it. */
export const nftContentLimits = {
  /** Characters of a description; a longer one is cut. */
  descriptionMax: 10_000,
  /** Characters of a URI, which may hold a whole picture (`data:`); a longer one is left out. */
  uriMax: 100_000,
  /** Characters of any other text; a longer one is cut. */
  textMax: 1_000,
  /** Traits; the first are taken. */
  traitsMax: 500,
  /** Files; the first are taken. */
  filesMax: 100,
} as const;

const { descriptionMax, uriMax, textMax, traitsMax, filesMax } = nftContentLimits;

/** Values that hold others are left out: nothing bounds what they hold. */
function traitOf(name: JsonValue | undefined, value: JsonValue | undefined): Trait[] {
  const trait = textOf(name, textMax);
  if (trait === '' || value === undefined) return [];
  if (typeof value === 'string') return [{ trait, value: textOf(value, textMax) }];
  return value !== null && typeof value === 'object' ? [] : [{ trait, value }];
}

/** Traits as `[{ trait_type, value }]`, as the standard has them, or as `{ trait: value }`. */
export function readTraits(attributes: JsonValue | undefined): Trait[] {
  if (Array.isArray(attributes)) {
    return itemsOf(attributes, traitsMax).flatMap((item) => {
      const { trait_type, value } = membersOf(item);
      return traitOf(trait_type, value);
    });
  }
  return Object.entries(membersOf(attributes))
    .slice(0, traitsMax)
    .flatMap(([name, value]) => traitOf(name, value));
}

/** Traits that stand on the chain, as many and as long as those off it. */
export const cutTraits = (traits: readonly Readonly<{ trait: string; value: string }>[]) =>
  traits.slice(0, traitsMax).map(({ trait, value }) => ({
    trait: textOf(trait, textMax),
    value: textOf(value, textMax),
  }));

function fileOf(uri: JsonValue | undefined, type: JsonValue | undefined): NftFile[] {
  const whole = wholeTextOf(uri, uriMax);
  return whole === '' ? [] : [{ uri: whole, type: textOf(type, textMax) }];
}

/** Files as `[{ uri, type }]`, or as a list of URIs. `typeName` is what their type is called. */
export function readFiles(files: JsonValue | undefined, typeName: 'type' | 'mime'): NftFile[] {
  return itemsOf(files, filesMax).flatMap((file) => {
    if (typeof file === 'string') return fileOf(file, undefined);
    const { uri, [typeName]: type } = membersOf(file);
    return fileOf(uri, type);
  });
}

function readCollection(collection: JsonValue | undefined): NftContent['collection'] {
  if (typeof collection === 'string') return readCollection({ name: collection });
  const members = membersOf(collection);
  const name = textOf(members.name, textMax);
  const family = textOf(members.family, textMax);
  return { ...(name === '' ? {} : { name }), ...(family === '' ? {} : { family }) };
}

/**
 * What off-chain JSON says of an NFT. Source: Metaplex token standard, "The JSON file"; rest-api.md §2.12.
 * @returns null when it is no object.
 */
export function readNftContent(json: JsonValue): NftContent | null {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return null;
  const members = membersOf(json);
  return {
    image: wholeTextOf(members.image, uriMax),
    animationUrl: wholeTextOf(members.animation_url, uriMax),
    description: textOf(members.description, descriptionMax),
    externalUrl: wholeTextOf(members.external_url, uriMax),
    traits: readTraits(members.attributes),
    files: readFiles(membersOf(members.properties).files ?? members.files, 'type'),
    collection: readCollection(members.collection),
  };
}
