import { expect, it } from 'vitest';
import { generateApiKey } from './api-key.ts';
import { VerifiedCredentialCache } from './key-authenticator.ts';

it('returns stored values for equal credentials only', () => {
  const known = new VerifiedCredentialCache<string>();
  const { text } = generateApiKey('rpc');
  expect(known.find(text)).toBeNull();
  known.put(text, 'found');
  expect(known.find(`${text}`)).toBe('found');
  for (let i = 0; i < text.length; i++) {
    expect(known.find(`${text.slice(0, i)}~${text.slice(i + 1)}`)).toBeNull();
  }
  for (const other of [text.slice(1), `${text}x`, '', 'x']) expect(known.find(other)).toBeNull();
});

it('never returns the value of another credential after an eviction', () => {
  const known = new VerifiedCredentialCache<string>();
  const texts = Array.from({ length: 20_000 }, (_, i) => `svc_rpc_live_${(i * 7919) % 1_000_003}`);
  for (const text of texts) known.put(text, `of ${text}`);
  const found = texts.map((text) => known.find(text));
  expect(found.every((each, i) => each === null || each === `of ${texts[i]}`)).toBe(true);
  // The last entry has not been evicted.
  expect(found.at(-1)).toBe(`of ${texts.at(-1)}`);
  expect(found.filter((each) => each !== null).length).toBeGreaterThan(2_000);
});

it('holds nearly all of 10,000 keys', () => {
  const known = new VerifiedCredentialCache<number>();
  const texts = Array.from({ length: 10_000 }, () => generateApiKey('rpc').text);
  for (const [at, text] of texts.entries()) known.put(text, at);
  expect(texts.filter((text, at) => known.find(text) === at).length).toBeGreaterThan(9_900);
});

it('removes an entry, but not its successor at the same index', () => {
  const known = new VerifiedCredentialCache<string>();
  // Equal last characters map to the same slots.
  const texts = Array.from({ length: 9 }, (_, at) => `key ${at} with one end`);
  const slots = texts.map((text) => known.put(text, `of ${text}`));
  const here = (): string[] => texts.filter((text) => known.find(text) === `of ${text}`);
  const [gone, stays] = [texts.findIndex((text) => known.find(text) === null), here()];
  expect(stays).toHaveLength(4);
  known.remove(slots[gone] as number, `of ${texts[gone]}`);
  expect(here()).toEqual(stays);
  known.remove(slots[8] as number, `of ${texts[8]}`);
  expect(here()).toEqual(stays.slice(0, 3));
  known.put('key 9 with one end', 'of another');
  expect(here()).toEqual(stays.slice(0, 3));
});
