import { CID } from 'multiformats/cid';
import { canonicalCid, hasTag, rangeOf } from '../../src/servers/ipfs/decode.ts';

export const from = 'clients';
export const covers = ['servers/ipfs/decode.ts', 'servers/ipfs/decode.ts'];

/** A CID, a range and tags, a line each. */
export const seeds: readonly Uint8Array[] = [
  'bafkreifjjcie6lypi6ny7amxnfftagclbuxndqonfipmb64f2km2devei4\nbytes=0-4\n"a", W/"b"',
  'QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWKPbdG\nbytes=-5\n*',
  'zb2rhe5P4gXftAwvA4eXQ5HJwsER2owDyS9sKaQRRVQPn93bA\nbytes=999999999999999-\nW/"b"',
].map((text) => Buffer.from(text));

const SIZE = 1_000;

/** Whatever is asked for: one name for each file, and no byte that it has not. @returns whether it names a file. */
export function fuzz(bytes: Uint8Array): boolean {
  const [text = '', header, tags] = Buffer.from(bytes).toString('latin1').split('\n');
  const range = rangeOf(header, SIZE);
  if (range !== null && range !== 'unsatisfiable') {
    const { start, end } = range;
    if (!(start >= 0 && start < end && end <= SIZE)) throw new Error(`bytes ${start} to ${end} of ${SIZE}`);
  }
  hasTag(tags, '"b"');
  const cid = canonicalCid(text);
  if (cid === null) return false;
  if (canonicalCid(cid) !== cid || !CID.parse(cid).equals(CID.parse(cid).toV1()))
    throw new Error('a name that has another name');
  return true;
}
