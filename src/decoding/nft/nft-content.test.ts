import { describe, expect, it } from 'vitest';
import { parseJson } from '../../base/json.ts';
import { nftContentLimits, readNftContent } from './nft-content.ts';

const nothing = {
  image: '',
  animationUrl: '',
  description: '',
  externalUrl: '',
  traits: [],
  files: [],
  collection: {},
};

describe('off-chain JSON of an NFT', () => {
  it('reads the members of the Metaplex standard', () => {
    const json = {
      name: 'Not taken: the chain has it',
      description: 'A fox',
      image: 'https://images/fox.png',
      animation_url: 'https://images/fox.mp4',
      external_url: 'https://foxes',
      attributes: [
        { trait_type: 'edification', value: '100' },
        { trait_type: 'legs', value: 4 },
        { trait_type: 'tame', value: false },
        { trait_type: 'owner', value: null },
      ],
      collection: { name: 'Foxes', family: 'Canidae' },
      properties: { files: [{ uri: 'https://images/fox.png', type: 'image/png' }], category: 'image' },
    };
    expect(readNftContent(json)).toEqual({
      image: 'https://images/fox.png',
      animationUrl: 'https://images/fox.mp4',
      description: 'A fox',
      externalUrl: 'https://foxes',
      traits: [
        { trait: 'edification', value: '100' },
        { trait: 'legs', value: 4 },
        { trait: 'tame', value: false },
        { trait: 'owner', value: null },
      ],
      files: [{ uri: 'https://images/fox.png', type: 'image/png' }],
      collection: { name: 'Foxes', family: 'Canidae' },
    });
  });

  it('accepts traits as an object, files as URIs and the collection as a name', () => {
    const json = { attributes: { a: 1, b: 'x' }, files: ['ipfs://x'], collection: 'Foxes' };
    expect(readNftContent(json)).toEqual({
      ...nothing,
      traits: [
        { trait: 'a', value: 1 },
        { trait: 'b', value: 'x' },
      ],
      files: [{ uri: 'ipfs://x', type: '' }],
      collection: { name: 'Foxes' },
    });
  });

  it('ignores members of another type', () => {
    const json = {
      image: { uri: 'x' },
      animation_url: 7,
      description: ['x'],
      external_url: null,
      attributes: [7, null, [], { value: 1 }, { trait_type: 5, value: 1 }, { trait_type: 'a' }],
      properties: { files: [7, {}, { uri: '' }, { uri: 5, type: 'x' }, [], null] },
      collection: ['x'],
    };
    expect(readNftContent(json)).toEqual(nothing);
    const attributes = [{ b: 1 }, [1]].map((value) => ({ trait_type: 'a', value }));
    expect(readNftContent({ attributes })).toEqual(nothing);
    expect(readNftContent({ properties: 'x', attributes: 'x', files: { a: 1 } })).toEqual(nothing);
    for (const other of [null, 'x', 5, true, [], [{ image: 'x' }]]) expect(readNftContent(other)).toBeNull();
  });

  it('ignores inherited members and accepts any trait name', () => {
    const json = parseJson('{"__proto__":{"image":"x"},"attributes":{"__proto__":"y","constructor":"z"}}');
    expect(readNftContent(json)).toEqual({
      ...nothing,
      traits: [
        { trait: '__proto__', value: 'y' },
        { trait: 'constructor', value: 'z' },
      ],
    });
  });

  it('cuts long texts and drops long URIs', () => {
    const { descriptionMax, textMax, uriMax, traitsMax, filesMax } = nftContentLimits;
    const long = 'x'.repeat(uriMax + 1);
    const read = readNftContent({
      description: long,
      image: long,
      animation_url: 'y'.repeat(uriMax),
      attributes: Array.from({ length: 1_000 }, (_, at) => ({ trait_type: `${at}${long}`, value: long })),
      properties: { files: Array.from({ length: 1_000 }, () => ({ uri: 'u', type: long })) },
      collection: { name: long, family: long },
    })!;
    expect(read.description).toHaveLength(descriptionMax);
    expect(read.image).toBe('');
    expect(read.animationUrl).toHaveLength(uriMax);
    expect(read.traits).toHaveLength(traitsMax);
    expect(read.traits[0]!.trait).toHaveLength(textMax);
    expect(read.traits[0]!.value).toHaveLength(textMax);
    expect(read.files).toHaveLength(filesMax);
    expect(read.files[0]!.type).toHaveLength(textMax);
    expect(read.collection.name).toHaveLength(textMax);
    const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`t${at}`, at]));
    expect(readNftContent({ attributes: many })!.traits).toHaveLength(traitsMax);
  });

  it('stays well-formed when a character is cut', () => {
    const read = readNftContent({ description: `${'x'.repeat(9_999)}😀`, image: '\ud800' })!;
    expect(read.description.isWellFormed() && read.image.isWellFormed()).toBe(true);
  });
});
