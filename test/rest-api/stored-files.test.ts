import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../../src/base/json.ts';
import { InvalidFields } from '../../src/protocol/rest/invalid-fields.ts';
import type { RestCaller, Upload } from '../../src/protocol/rest/route.ts';
import { create } from '../../src/rest-api/metadata/create.ts';
import { routeOf } from '../../src/rest-api/routes.ts';
import type { Services } from '../../src/rest-api/services.ts';
import { upload } from '../../src/rest-api/storage/upload.ts';

type Put = { text: string; about: unknown };

const caller = { ownerId: 'family', signal: new AbortController().signal } as RestCaller;

function storage(): { puts: Put[]; services: Services } {
  const puts: Put[] = [];
  const files: Services['files'] = {
    async put(bytes, about) {
      const chunks: Uint8Array[] = [];
      for await (const chunk of bytes instanceof Uint8Array ? [bytes] : bytes) chunks.push(chunk);
      puts.push({ text: Buffer.concat(chunks).toString(), about });
      return { cid: 'bafy', uri: 'https://x.example/ipfs/bafy' };
    },
  };
  return { puts, services: { files } as Services };
}

async function send(body: string | Record<string, unknown>): Promise<{ answer: unknown; puts: Put[] }> {
  const { puts, services } = storage();
  const input = {
    query: new Map(),
    body: parseJson(typeof body === 'string' ? body : JSON.stringify(body)),
    file: null,
  };
  return { answer: await routeOf(create, services).handle(input, caller), puts };
}

async function problems(body: JsonValue | Record<string, unknown>): Promise<string[]> {
  try {
    await send(body as Record<string, unknown>);
    return [];
  } catch (failure) {
    if (!(failure instanceof InvalidFields)) throw failure;
    return failure.problems.map(({ field, message }) => `${field} ${message}`);
  }
}

const CREATOR = '2fmz8SuNVyxEP6QwKQs6LNaT2ATszySPEJdhUDesxktc';
const least = { creator: CREATOR, name: 'Fish', image: 'https://x.example/fish.png' };

describe('metadata/create', () => {
  it('stores compact JSON in a fixed order', async () => {
    const { answer, puts } = await send({
      network: 'devnet',
      share: 100,
      royalty: 500,
      files: [{ type: 'image/png', uri: 'https://x.example/fish.png' }],
      attributes: [
        { value: '7', trait_type: 'age' },
        { trait_type: 'power', value: 9000.5, display_type: 'number' },
      ],
      external_url: 'https://x.example',
      description: 'A fish "π"',
      symbol: 'FSH',
      ...least,
    });
    expect(answer).toEqual({
      message: 'Metadata created successfully',
      result: { cid: 'bafy', uri: 'https://x.example/ipfs/bafy' },
    });
    expect(puts).toEqual([
      {
        text:
          '{"name":"Fish","symbol":"FSH","description":"A fish \\"π\\"","seller_fee_basis_points":500,' +
          '"external_url":"https://x.example","image":"https://x.example/fish.png",' +
          '"attributes":[{"trait_type":"age","value":"7"},' +
          '{"trait_type":"power","value":9000.5,"display_type":"number"}],' +
          `"properties":{"creators":[{"address":"${CREATOR}","verified":true,"share":100}],` +
          '"files":[{"uri":"https://x.example/fish.png","type":"image/png"}]}}',
        about: { name: null, type: 'application/json', ownerId: 'family' },
      },
    ]);
  });

  it('accepts files under either name, and numbers beyond double precision', async () => {
    const file = { uri: 'ipfs://bafy/1.mp4', type: 'video/mp4' };
    for (const given of [{ file }, { file: [file] }, { files: [file] }]) {
      const { puts } = await send({ ...least, ...given });
      expect(JSON.parse(puts[0]?.text ?? '').properties.files).toEqual([file]);
    }
    const attribute = '[{"trait_type":"id","value":12345678901234567890}]';
    const { puts } = await send(`${JSON.stringify(least).slice(0, -1)},"attributes":${attribute}}`);
    expect(puts[0]?.text).toContain(attribute);
  });

  it.each([
    [5.5, 5.5],
    ['5.5', 5.5],
    [null, 0],
  ])('stores a royalty of %j as given', async (royalty, written) => {
    const { puts } = await send({ ...least, royalty });
    expect(JSON.parse(puts[0]?.text ?? '').seller_fee_basis_points).toBe(written);
  });

  it.each([
    [{ ...least, creator: undefined }, /^creator is missing/],
    [{ ...least, name: 'x'.repeat(257) }, /^name must be text of 1 to 256/],
    [{ ...least, image: 'fish.png' }, /^image must be a URL/],
    [{ ...least, image: `https://x.example/${'x'.repeat(2_100)}` }, /^image must be a URL/],
    [{ ...least, external_url: 'file:///etc/passwd' }, /^external_url must be a URL/],
    [{ ...least, share: 101 }, /^share must be a whole number from 0 to 100/],
    [{ ...least, royalty: 10_001 }, /^royalty must be a number from 0 to 10000/],
    [{ ...least, royalty: '5e1' }, /^royalty /],
    [{ ...least, attributes: 'x' }, /^attributes\[0\] must be an object/],
    [{ ...least, attributes: [{ value: 'x' }] }, /^attributes\[0\]\[trait_type\] is missing/],
    [{ ...least, attributes: [{ trait_type: 'x', value: {} }] }, /^attributes\[0\]\[value\] must be text/],
    [
      { ...least, attributes: Array(257).fill({ trait_type: 'x', value: 1 }) },
      /^attributes has more than 256/,
    ],
  ])('names the invalid field (%#)', async (body, problem) => {
    expect(await problems(body as Record<string, unknown>)).toEqual([expect.stringMatching(problem)]);
  });
});

describe('storage/upload', () => {
  const route = (services: Services) => routeOf(upload, services);

  it('stores the file for the key family', async () => {
    const { puts, services } = storage();
    const bytes = (async function* () {
      yield Buffer.from('fish');
    })();
    const file: Upload = { name: 'a.png', type: 'image/png', bytes };
    const answer = await route(services).handle({ query: new Map(), body: undefined, file }, caller);
    expect(answer).toEqual({
      message: 'File uploaded successfully',
      result: { cid: 'bafy', uri: 'https://x.example/ipfs/bafy' },
    });
    expect(puts).toEqual([{ text: 'fish', about: { name: 'a.png', type: 'image/png', ownerId: 'family' } }]);
  });

  it('names the missing part', async () => {
    const { services } = storage();
    const request = route(services).handle({ query: new Map(), body: {}, file: null }, caller);
    await expect(request).rejects.toMatchObject({ problems: [{ field: 'file' }] });
  });
});
