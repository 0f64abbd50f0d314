import { pbkdf2Sync } from 'node:crypto';
import { expect, it } from 'vitest';
import { type DerivationLimits, type DeriveKey, keyDerivation } from './key-derivation.ts';

const salt = Buffer.alloc(16, 7);

const derivation = (change: Partial<DerivationLimits> = {}) =>
  keyDerivation({
    ...{ derivationsMax: 1, derivationsPerOwnerMax: 1 },
    ...{ derivationQueueMax: 100, derivationPerOwnerQueueMax: 100 },
    ...change,
  });

/** Results of concurrent derivations by owner, in order of completion. */
async function endsOf(deriving: (owner: string) => DeriveKey, owners: readonly string[]): Promise<string[]> {
  const ends: string[] = [];
  const work = owners.map((owner) =>
    deriving(owner)('password', salt, 1_000).then(
      () => ends.push(`${owner} done`),
      (error: { code: string }) => ends.push(`${owner} ${error.code}`),
    ),
  );
  await Promise.all(work);
  return ends;
}

it('derives the PBKDF2 key', async () => {
  const key = await derivation()('a')('pass – ñ', salt, 1_000);
  expect(key).toEqual(pbkdf2Sync('pass – ñ', salt, 1_000, 32, 'sha256'));
});

it('rejects derivations beyond the queue and completes the others', async () => {
  const deriving = derivation({ derivationQueueMax: 2 });
  const ends = await endsOf(deriving, ['a', 'b', 'c', 'd', 'e']);
  expect(ends).toEqual(['d OVERLOADED', 'e OVERLOADED', 'a done', 'b done', 'c done']);
  expect((await deriving('a')('password', salt, 1_000)).length).toBe(32);
});

it('bounds the queue per owner and serves owners in turn', async () => {
  const deriving = derivation({ derivationQueueMax: 5, derivationPerOwnerQueueMax: 3 });
  const ends = await endsOf(deriving, ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'c']);
  expect(ends.slice(0, 2)).toEqual(['a OVERLOADED', 'a OVERLOADED']);
  expect(ends.slice(2)).toEqual(['a done', 'a done', 'b done', 'c done', 'a done', 'a done']);
});
