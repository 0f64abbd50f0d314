import fc from 'fast-check';
import { importByteStream } from 'ipfs-unixfs-importer';
import { describe, expect, it } from 'vitest';
import { buildBlocks, LEAF_BYTES, splitIntoLeaves } from './file-blocks.ts';

async function* inPieces(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

const cidOf = async (bytes: Uint8Array, pieces = 65_536): Promise<string> =>
  (await buildBlocks(splitIntoLeaves(inPieces(bytes, pieces)))).root.toString();

const memory = { put: (cid: unknown) => cid } as unknown as Parameters<typeof importByteStream>[1];

/** The reference importer with its IPIP-499 profile. */
const oracle = async (bytes: Uint8Array): Promise<string> =>
  (await importByteStream(inPieces(bytes, 65_536), memory, { profile: 'unixfs-v1-2025' })).cid.toString();

const patterned = (length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 13)) & 0xff;
  return bytes;
};

describe('the content identifier of a file', () => {
  // Source: rest-api.md §6, profile A.
  it.each([
    ['hello world\n', 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4'],
    ['hello world', 'bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e'],
    ['', 'bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku'],
    ['a'.repeat(3_000_000), 'bafybeig3tekvo6icfwhptbbtr5vlcn77vkjfsz4t2zpb7prqrhqgwrtwei'],
  ])('matches the known identifier (%#)', async (text, cid) => {
    expect(await cidOf(Buffer.from(text))).toBe(cid);
  });

  it.each([0, 1, LEAF_BYTES - 1, LEAF_BYTES, LEAF_BYTES + 1, 2 * LEAF_BYTES, 5 * LEAF_BYTES + 7])(
    'of %d bytes matches the reference importer',
    async (length) => {
      const bytes = patterned(length);
      expect(await cidOf(bytes)).toBe(await oracle(bytes));
    },
  );

  it('with more leaves than one node links by default matches the importer with the same limit', async () => {
    async function* repeated(): AsyncGenerator<Uint8Array> {
      const leaf = patterned(LEAF_BYTES);
      for (let i = 0; i < 180; i++) yield leaf;
    }
    const { cid } = await importByteStream(repeated(), memory, { profile: 'unixfs-v1-2025' });
    expect(String((await buildBlocks(splitIntoLeaves(repeated()))).root)).toBe(String(cid));
  });

  it('does not depend on the chunks in which it arrives', async () => {
    const bytes = patterned(2 * LEAF_BYTES + 123);
    const expected = await oracle(bytes);
    const sizes = fc.integer({ min: 100, max: 3 * LEAF_BYTES });
    await fc.assert(
      fc.asyncProperty(sizes, async (size) => {
        expect(await cidOf(bytes, size)).toBe(expected);
      }),
      { numRuns: 8, examples: [[100]] },
    );
  });
});

it('the blocks of a file fail with the error of the source', async () => {
  const broken = (async function* () {
    yield patterned(LEAF_BYTES + 5);
    throw new Error('gone');
  })();
  await expect(buildBlocks(splitIntoLeaves(broken))).rejects.toThrow('gone');
});
