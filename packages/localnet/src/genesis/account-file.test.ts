import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { address } from '../../../../src/solana/address.ts';
import { encodeBase58 } from '../../../../src/solana/base58.ts';
import { temporaryFolder } from '../../../../test/service/program.ts';
import { readAccountDir, readAccountFile } from './account-file.ts';

const dir = temporaryFolder('accounts');

const PUBKEY = 'So11111111111111111111111111111111111111112';
const OWNER = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
const bytes = Uint8Array.of(0, 1, 2, 250);

function file(name: string, changes: Record<string, string> = {}): string {
  const fields: Record<string, string> = {
    lamports: '1461600',
    data: JSON.stringify([Buffer.from(bytes).toString('base64'), 'base64']),
    owner: `"${OWNER}"`,
    executable: 'false',
    rentEpoch: '18446744073709551615',
    space: '4',
    ...changes,
  };
  const members = Object.entries(fields).map(([field, text]) => `"${field}":${text}`);
  const path = join(dir, name);
  writeFileSync(path, `{"pubkey":"${PUBKEY}","account":{${members.join(',')}}}`);
  return path;
}

const expected = {
  lamports: 1_461_600n,
  data: bytes,
  owner: OWNER,
  executable: false,
  rentEpoch: 18_446_744_073_709_551_615n,
};

it('reads an account file exactly', () => {
  expect(readAccountFile(file('plain.json'))).toEqual([PUBKEY, expected]);
});

it('uses the given address', () => {
  expect(readAccountFile(file('moved.json'), address(OWNER))[0]).toBe(OWNER);
});

it.each([
  ['base58', encodeBase58(bytes)],
  ['base64+zstd', zstdCompressSync(bytes).toString('base64')],
])('reads data in %s', (encoding, text) => {
  const path = file('encoded.json', { data: JSON.stringify([text, encoding]) });
  expect(readAccountFile(path)[1].data).toEqual(bytes);
});

it('reads every file of a directory', () => {
  const entries = readAccountDir(dir);
  expect(entries.length).toBeGreaterThan(1);
  expect(new Set(entries.map(([at]) => at))).toEqual(new Set([PUBKEY]));
});

it.each([
  ['account.lamports', { lamports: '-1' }],
  ['account.lamports', { lamports: '18446744073709551616' }],
  ['account.owner', { owner: '"nobody"' }],
  ['account.data', { data: '["AAA=","hex"]' }],
  ['account.data', { data: '["not zstd","base64+zstd"]' }],
  ['account.executable', { executable: '1' }],
])('names the invalid field: %s', (field, changes) => {
  expect(() => readAccountFile(file('wrong.json', changes))).toThrow(`invalid at ${field}`);
  rmSync(join(dir, 'wrong.json'));
});

it('names the file that is not JSON', () => {
  const path = join(dir, 'broken.txt');
  writeFileSync(path, '{');
  expect(() => readAccountFile(path)).toThrow(/cannot read account file .*broken\.txt, or it is not JSON/);
});
