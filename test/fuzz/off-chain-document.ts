import { documentIn, parseDocument } from '../../src/upstream/off-chain/document.ts';
import { offChainLimits } from '../../src/upstream/off-chain/limits.ts';

export const from = 'hosts of metadata';
export const covers = ['upstream/off-chain/document.ts'];

export const seeds = [
  '{"name":"n","symbol":"s","image":"https://a.example/i.png","attributes":[{"trait_type":"t","value":1.5e3}]}',
  '\ufeff{"a":[{},[],"\\u00e9\\"",null,true,false,-0,18446744073709551615]}',
  '[[[[[[[[]]]]]]]]',
  ' "text" ',
].map((text) => Buffer.from(text));

/** Whatever a host sends: no exception, and a document only out of what JSON.parse reads. */
export function fuzz(bytes: Uint8Array): boolean {
  const document = documentIn(Buffer.from(bytes), offChainLimits);
  if (document === null) return false;
  parseDocument(document);
  JSON.parse(document.toString('utf8'));
  return true;
}
