import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { offChainLimits, offChainRules } from './limits.ts';
import { targetOf } from './target.ts';

const CID = 'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4';
const NAME = 'PR0YX8bYbPbxX8rN3ySxFeGBbvyWbGnFYUvnz6eNyYg';
const rules = {
  ...offChainRules,
  ipfsGateways: ['https://one.example/ipfs/', 'https://two.example/g/ipfs/'],
};

function resolved(uri: string): string[] | string | null {
  const target = targetOf(uri, rules, offChainLimits);
  if (target === null) return null;
  return target.kind === 'inline' ? target.bytes.toString() : target.urls.map(({ href }) => href);
}

describe('targetOf', () => {
  it.each([
    ['https://a.example/x.json?y=1#z', ['https://a.example/x.json?y=1']],
    ['  HTTP://A.example:80/x  ', ['http://a.example/x']],
    ['http://a.example:443/', ['http://a.example:443/']],
    [`ipfs://${CID}`, [`https://one.example/ipfs/${CID}`, `https://two.example/g/ipfs/${CID}`]],
    [
      `ipfs://ipfs/${CID}/7.json`,
      [`https://one.example/ipfs/${CID}/7.json`, `https://two.example/g/ipfs/${CID}/7.json`],
    ],
    [`ar://${NAME}`, [`https://arweave.net/${NAME}`]],
    [`ar://${NAME}/50%25 off..json`, [`https://arweave.net/${NAME}/50%25%20off..json`]],
    [`ar://${NAME}/100%/a%2fb%2e.json`, [`https://arweave.net/${NAME}/100%/a%2fb%2e.json`]],
    ['data:application/json,{"a":1}', '{"a":1}'],
    ['data:application/json;utf8,%7B%22a%22%3A1%7D', '{"a":1}'],
    ['data:application/json;base64,eyJhIjoxfQ==', '{"a":1}'],
    ['data:application/json,{"off":"50%"}', '{"off":"50%"}'],
  ])('resolves %s', (uri, expected) => expect(resolved(uri)).toEqual(expected));

  it.each([
    ['', 'empty'],
    ['file:///etc/passwd', 'a file'],
    ['https://user:pass@a.example/', 'a password'],
    ['https://a.example:8080/', 'a port that is not allowed'],
    ['http://a.example:22/', 'a port of another service'],
    [`https://a.example/${'x'.repeat(offChainLimits.uriMaxLength)}`, 'too long'],
    [`ipfs://${CID}/../../admin`, 'path traversal'],
    [`ipfs://${CID}/%2e%2e/${CID}x`, 'encoded path traversal'],
    [`ipfs://${CID}\\..\\..`, 'backslashes'],
    [`ipfs://${CID}/%2e%2e%2f%2e%2e%2fapi`, 'path traversal with encoded dots and slashes'],
    [`ipfs://${CID}/a%2f.%2E`, 'encoded path traversal at the end'],
    [`ipfs://${CID}/%252e%252e%252fapi`, 'path traversal that is encoded twice'],
    [`ipfs://${CID}/.\t.%2fapi`, 'path traversal with a character that URL parsers drop'],
    [`ipfs://${CID}/%${'25'.repeat(200)}2e`, 'too many levels of encoding'],
    ['ipfs://short', 'an invalid identifier'],
    ['data:text/html,<b>', 'HTML'],
    ['data:application/json;base64,%%%', 'broken base64'],
    [`data:application/json,${'x'.repeat(3 * offChainLimits.documentMaxBytes + 64)}`, 'too large'],
  ])('rejects %s (%s)', (uri) => expect(resolved(uri)).toBeNull());

  it.each(['2130706433', '0177.0.0.1', '0x7f.1', '127.1', '0x7f000001'])(
    'normalizes the address %s so that it is checked',
    (host) => expect(resolved(`http://${host}/`)).toEqual(['http://127.0.0.1/']),
  );

  it('never throws or returns a forbidden port, scheme or user', () => {
    const hosts = fc.constantFrom('a.example', '[::1]', '1.2.3.4', '%41', '.', 'xn--a');
    const schemes = fc.constantFrom('http', 'https', 'ipfs', 'ar', 'data', 'ws');
    const uris = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.webUrl({ withQueryParameters: true, withFragments: true }),
      fc.tuple(schemes, hosts, fc.string()).map(([scheme, host, rest]) => `${scheme}://${host}${rest}`),
    );
    const accepts = (uri: string): void => {
      const target = targetOf(uri, rules, offChainLimits);
      if (target?.kind !== 'remote') return;
      for (const { protocol, port, username, password } of target.urls) {
        expect(['http:', 'https:']).toContain(protocol);
        expect(['', '80', '443']).toContain(port);
        expect(username + password).toBe('');
      }
    };
    fc.assert(fc.property(uris, accepts), { numRuns: 2_000 });
  });
});
