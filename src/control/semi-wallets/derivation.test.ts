import { pbkdf2Sync } from 'node:crypto';
import { expect, it } from 'vitest';
import { Derivation } from './derivation.ts';

const salt = Buffer.alloc(16, 7);

it('derives what PBKDF2 does', async () => {
  const key = await new Derivation(1, 0).keyOf('pass – ñ', salt, 1_000);
  expect(key).toEqual(pbkdf2Sync('pass – ñ', salt, 1_000, 32, 'sha256'));
});

it('refuses what finds no room to wait, and goes on with the rest', async () => {
  const derivation = new Derivation(1, 2);
  const ends = Array.from({ length: 5 }, (_, i) =>
    derivation.keyOf(`password ${i}`, salt, 1_000).then(
      () => 'done',
      (error: { code: string }) => error.code,
    ),
  );
  expect(await Promise.all(ends)).toEqual(['done', 'done', 'done', 'OVERLOADED', 'OVERLOADED']);
  expect((await derivation.keyOf('password', salt, 1_000)).length).toBe(32);
});
