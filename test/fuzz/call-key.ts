import { isDeepStrictEqual } from 'node:util';
import { isJson } from '../../src/base/json-scan.ts';
import { type MethodName, methodRow, methods } from '../../src/protocol/methods.ts';
import { CallKeys } from '../../src/upstream/middleware/call-key.ts';
import { canonicalParams } from '../../src/upstream/middleware/canonical-params.ts';

export const from = 'clients';
export const covers = [
  'base/json-scan.ts',
  'upstream/middleware/call-key.ts',
  'upstream/middleware/canonical-params.ts',
];

const names = Object.keys(methods) as MethodName[];

/** Params of a method, which the first byte names. */
export const seeds: readonly Uint8Array[] = [
  '["TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",{"commitment":"finalized","minContextSlot":5}]',
  '[ 5 , { "b" : [ 1.0 , "\\u00e9\\/" ] , "a" : { "\\u0061" : null } } ]',
  '["é€😀",null]',
  '[{"commitment":"finalized"}]',
  '[[[[[[[[[]]]]]]]]]',
].flatMap((text, at) => [Buffer.from([at * 7, ...Buffer.from(text)])]);

const nowhere = { index: null, kind: null };

/** Whether a name stands twice in some object; what JSON.parse keeps of it is then not all that was said. */
function saysTwice(text: string): boolean {
  const count = (value: unknown): number => {
    if (typeof value !== 'object' || value === null) return 0;
    const members = Object.values(value);
    return (Array.isArray(value) ? 0 : members.length) + members.reduce((sum, one) => sum + count(one), 0);
  };
  const written = text.match(/"(?:[^"\\]|\\.)*"\s*:/g)?.length ?? 0;
  return written !== count(JSON.parse(text));
}

/** The canonical text says what the params say, and is its own canonical text. @returns whether there is one. */
export function fuzz(bytes: Uint8Array): boolean {
  const params = Buffer.from(bytes.subarray(1));
  const text = params.toString();
  // Envelopes let nothing else through.
  if (!isJson(params, 64) || Buffer.compare(Buffer.from(text), params) !== 0) return false;
  const method = names[(bytes[0] ?? 0) % names.length] as MethodName;
  new CallKeys().keyOf({ network: 'devnet', method, row: methodRow(method), params });
  const canonical = canonicalParams(params, params.toString('latin1'), nowhere)?.text;
  if (canonical === undefined) return false;
  const reported = Buffer.from(canonical, 'latin1');
  if (canonicalParams(reported, canonical, nowhere)?.text !== canonical)
    throw new Error('a second canonical text');
  if (!saysTwice(text) && !isDeepStrictEqual(JSON.parse(reported.toString()), JSON.parse(text)))
    throw new Error('the canonical text says something else');
  return true;
}
