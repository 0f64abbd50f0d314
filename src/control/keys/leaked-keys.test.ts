import { generateKeyPairSync, sign } from 'node:crypto';
import { expect, it } from 'vitest';
import { readScannerKey, reportVerifier } from './leaked-keys.ts';

/** Example with a test key, from docs.github.com, "Secret scanning partner program". */
const published = {
  id: 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d',
  pem: `-----BEGIN PUBLIC KEY-----
MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEsz9ugWDj5jK5ELBK42ynytbo38gP
HzZFI03Exwz8Lh/tCfL3YxwMdLjB+bMznsanlhK0RwcGP3IDb34kQDIo3Q==
-----END PUBLIC KEY-----`,
  body: Buffer.from('[{"token":"some_token","type":"some_type","url":"some_url","source":"some_source"}]'),
  signature:
    'MEUCIFLZzeK++IhS+y276SRk2Pe5LfDrfvTXu6iwKKcFGCrvAiEAhHN2kDOhy2I6eGkOFmxNkOJ+L2y8oQ9A2T9GGJo6WJY=',
};

it('verifies the example signature that GitHub publishes', () => {
  const { id, body, signature } = published;
  expect(reportVerifier([published])(body, id, signature)).toBe(true);
});

it.each([
  ['other bytes', { body: Buffer.concat([published.body, Buffer.from(' ')]) }],
  ['no body', { body: null }],
  ['another key', { id: 'x' }],
  ['a malformed signature', { signature: 'AAAA' }],
  ['an overlong signature', { signature: published.signature.repeat(100_000) }],
])('rejects %s', (_, change) => {
  const { body, id, signature } = { ...published, ...change };
  expect(reportVerifier([published])(body, id, signature)).toBe(false);
});

it('rejects a signature by another key with the same name', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signature = sign('sha256', published.body, privateKey).toString('base64');
  expect(reportVerifier([published])(published.body, published.id, signature)).toBe(false);
  const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  expect(reportVerifier([{ id: 'x', pem }])(published.body, 'x', signature)).toBe(true);
});

it('accepts only public keys on the curve P-256', () => {
  const other = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey;
  expect(readScannerKey(other.export({ type: 'spki', format: 'pem' }).toString())).toBeNull();
  expect(readScannerKey('x')).toBeNull();
  expect(readScannerKey(published.pem)).not.toBeNull();
});
