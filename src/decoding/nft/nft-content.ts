import type { JsonValue } from '../../base/json.ts';
import { itemsOf, membersOf, textOf, textWithin } from '../lenient-json.ts';

export type NftContent = Readonly<{
  image: string;
  animationUrl: string;
  description: string;
  externalUrl: string;
  traits: readonly Trait[];
  files: readonly NftFile[];
  collection: Readonly<{ name?: string; family?: string }>;
}>;

export type Trait = Readonly<{ trait: string; value: JsonValue }>;
type NftFile = Readonly<{ uri: string; type: string }>;

/** Limits for off-chain JSON, which is untrusted. */
export const nftContentLimits = {
  descriptionMax: 10_000,
  /** Maximum characters in a URI (`data:` URIs hold whole images); longer URIs are dropped. */
  uriMax: 100_000,
  textMax: 1_000,
  traitsMax: 500,
  filesMax: 100,
} as const;

const { descriptionMax, uriMax, textMax, traitsMax, filesMax } = nftContentLimits;

/** Drops nested values, because their size is unbounded. */
function traitOf(name: JsonValue | undefined, value: JsonValue | undefined): Trait[] {
  const trait = textOf(name, textMax);
  if (trait === '' || value === undefined) return [];
  if (typeof value === 'string') return [{ trait, value: textOf(value, textMax) }];
  return value !== null && typeof value === 'object' ? [] : [{ trait, value }];
}

/** Reads the standard form `[{ trait_type, value }]` and the form `{ trait: value }`. */
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

export const truncateTraits = (traits: readonly Readonly<{ trait: string; value: string }>[]) =>
  traits.slice(0, traitsMax).map(({ trait, value }) => ({
    trait: textOf(trait, textMax),
    value: textOf(value, textMax),
  }));

function fileOf(uri: JsonValue | undefined, type: JsonValue | undefined): NftFile[] {
  const whole = textWithin(uri, uriMax);
  return whole === '' ? [] : [{ uri: whole, type: textOf(type, textMax) }];
}

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

/** Source: Metaplex token standard, "The JSON file"; rest-api.md §2.12. */
export function readNftContent(json: JsonValue): NftContent | null {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) return null;
  const members = membersOf(json);
  return {
    image: textWithin(members.image, uriMax),
    animationUrl: textWithin(members.animation_url, uriMax),
    description: textOf(members.description, descriptionMax),
    externalUrl: textWithin(members.external_url, uriMax),
    traits: readTraits(members.attributes),
    files: readFiles(membersOf(members.properties).files ?? members.files, 'type'),
    collection: readCollection(members.collection),
  };
}
